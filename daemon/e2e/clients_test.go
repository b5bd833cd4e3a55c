package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// example gives a client of docs/api.md by the name in its mark, written into
// a folder.
func example(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- client: " + regexp.QuoteMeta(name) + " -->\n```[a-z]+\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/api.md has no client %s", name)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, found[1], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClientsOfTheDocs runs the page's clients as a stranger would: they get
// nothing but the folder with api.json.
func TestClientsOfTheDocs(t *testing.T) {
	t.Parallel()
	needWorker(t)
	tools, err := filepath.Abs(filepath.Join("..", "..", "build", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		command func(file string) []string
	}{
		{"memory.py", func(file string) []string { return []string{filepath.Join(tools, "bin", "python3"), file} }},
		{"memory.mjs", func(file string) []string {
			return append(append([]string{filepath.Join(tools, "bin", "node")}, webSocketFlag(tools)...), file)
		}},
		{"memory.sh", func(file string) []string { return []string{"/bin/sh", file} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			command := test.command(example(t, test.name))
			if _, err := os.Stat(command[0]); err != nil {
				t.Skip("make deps has no " + filepath.Base(command[0]) + " for this")
			}
			folder := newHome(t)
			r := start(t, folder)
			_, err := client.Login(context.Background(), r.dial(), filepath.Join(folder, api.APIFile), "test")
			is.NoErr(err)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			process := exec.CommandContext(ctx, command[0], command[1:]...)
			process.Env = append(os.Environ(), api.EnvHome+"="+folder, "PYTHONPATH="+filepath.Join(tools, "python"),
				"PATH="+filepath.Dir(worker())+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := process.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text := string(out)
			if strings.HasSuffix(test.name, ".sh") { // the API's own JSON
				is.True(strings.Contains(text, `"liveness": "alive"`))
				is.True(strings.Count(text, `"used_bytes"`) >= 3)
				is.True(strings.Contains(text, `"fp16_tflops"`))
				return
			}
			is.True(strings.Count(text, "memory in use: ") >= 4)      // a snapshot and three changes
			is.True(strings.Contains(text, "done"))                   // the measurement's end
			is.True(regexp.MustCompile(`fp16: \d`).MatchString(text)) // and its result
		})
	}
}

// webSocketFlag is what Node 20 needs for the WebSocket that Node 22 has.
func webSocketFlag(tools string) []string {
	version, err := exec.Command(filepath.Join(tools, "bin", "node"), "--version").Output()
	if err == nil && (strings.HasPrefix(string(version), "v20.") || strings.HasPrefix(string(version), "v21.")) {
		return []string{"--experimental-websocket"}
	}
	return nil
}

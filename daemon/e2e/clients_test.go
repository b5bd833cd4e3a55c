package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

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
	folder := newHome(t)
	r := start(t, folder)
	_, err = client.Login(context.Background(), r.dial(), filepath.Join(folder, api.APIFile), "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var all sync.WaitGroup // at once, so that they share a measurement
	defer all.Wait()
	node := append(append([]string{filepath.Join(tools, "bin", "node")}, webSocketFlag(tools)...), example(t, "memory.mjs"))
	for name, command := range map[string][]string{
		"memory.py":  {filepath.Join(tools, "bin", "python3"), example(t, "memory.py")},
		"memory.mjs": node,
		"memory.sh":  {"/bin/sh", example(t, "memory.sh")},
	} {
		if _, err := os.Stat(command[0]); err != nil {
			t.Log("make deps has no " + filepath.Base(command[0]) + " for this")
			continue
		}
		all.Go(func() {
			process := exec.CommandContext(ctx, command[0], command[1:]...)
			process.Env = append(os.Environ(), api.EnvHome+"="+folder, "PYTHONPATH="+filepath.Join(tools, "python"),
				"PATH="+filepath.Dir(worker())+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := process.CombinedOutput()
			text := string(out)
			has := func(what string, least int) {
				if n := len(regexp.MustCompile(what).FindAllString(text, -1)); n < least {
					t.Errorf("%s: %d of %d times %s in\n%s", name, n, least, what, text)
				}
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			} else if strings.HasSuffix(name, ".sh") { // the API's own JSON
				has(`"liveness": "alive"`, 1)
				has(`"used_bytes"`, 3)
				has(`"fp16_tflops"`, 1)
			} else {
				has("memory in use: ", 4) // a snapshot and three changes
				has("done", 1)            // the measurement's end
				has(`fp16: \d`, 1)        // and its result
			}
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

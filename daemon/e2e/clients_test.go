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

// example gives a program of a page of docs by the name in its mark, written into
// a folder.
func example(t *testing.T, page, name, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- (?:client|program): " + regexp.QuoteMeta(name) + " -->\n```[a-z]+\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/%s has no %s", page, name)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, found[1], 0o644); err != nil {
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
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var all sync.WaitGroup // at once, so that they share a measurement
	defer all.Wait()
	node := append(append([]string{filepath.Join(tools, "bin", "node")}, webSocketFlag(tools)...), example(t, "api.md", "memory.mjs", t.TempDir()))
	python := filepath.Join(tools, "bin", "python3")
	for name, command := range map[string][]string{
		"memory.py":  {python, example(t, "api.md", "memory.py", t.TempDir())},
		"unix.py":    {python, overSocket(t, example(t, "api.md", "memory.py", t.TempDir()))},
		"memory.mjs": node,
		"memory.sh":  {"/bin/sh", example(t, "api.md", "memory.sh", t.TempDir())},
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

// overSocket has the page's client in Python use the Unix socket, as the page says.
func overSocket(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	must(t, "the page", err)
	call := regexp.MustCompile("`(unix_connect\\([^`]*\\))`").FindSubmatch(page)
	text, err := os.ReadFile(path)
	must(t, "the client", err)
	line := regexp.MustCompile(`(?m)^with connect\(.*\) as`)
	if call == nil || !line.Match(text) {
		t.Fatal("docs/api.md does not say how the Unix socket is used")
	}
	text = line.ReplaceAllLiteral(text, []byte("from websockets.sync.client import unix_connect\nwith "+string(call[1])+" as"))
	must(t, "the client", os.WriteFile(path, text, 0o644))
	return path
}

// webSocketFlag is what Node 20 needs for the WebSocket that Node 22 has.
func webSocketFlag(tools string) []string {
	version, err := exec.Command(filepath.Join(tools, "bin", "node"), "--version").Output()
	if err == nil && (strings.HasPrefix(string(version), "v20.") || strings.HasPrefix(string(version), "v21.")) {
		return []string{"--experimental-websocket"}
	}
	return nil
}

// Package hubtest is a Hub for tests: as much of Hugging Face as huggingface_hub takes to
// fetch a model, with what goes wrong there.
package hubtest

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Hub is one. What is exported is set before it is asked.
type Hub struct {
	// URL is what HF_ENDPOINT names.
	URL string
	// Models are the repositories, and Commit is what their branch main is at.
	Models map[string]Model
	Commit string
	// Token is who may have what is gated; Gated says that all is.
	Token string
	Gated bool
	// Asks is a repository that everybody sees, whose files are for who has the token alone.
	Asks string
	// Private is a repository that is there for who has the token alone.
	Private string
	// Busy is how often it answers that it was asked too often, Broken how often that it
	// is out of order.
	Busy, Broken int
	// RetryAfter is when it wants to be asked again, in seconds.
	RetryAfter string
	// CutAfter ends a transfer of a large file after so many bytes, Cuts times.
	CutAfter, Cuts int
	// Wrong is a file that arrives with other bytes.
	Wrong string
	// Larger is how much larger large files are than they are, in the list of files.
	Larger int
	// Hold, where it is not nil, keeps a transfer that was cut from ending until it is closed.
	Hold chan struct{}

	mu     sync.Mutex
	sent   int64
	tokens []string
	shown  map[string][]string
}

// Model is the files of a model; those that end in .json are not large.
type Model map[string]string

// New starts one, which ends with the test.
func New(t testing.TB) *Hub {
	h := &Hub{Models: map[string]Model{}, shown: map[string][]string{}, Commit: "08231374eeacb049a0eade7922910865b8fce912"}
	storage := httptest.NewServer(http.HandlerFunc(h.storage))
	t.Cleanup(storage.Close)
	hub := httptest.NewServer(h.handler(storage.URL))
	t.Cleanup(hub.Close)
	h.URL = hub.URL
	return h
}

// Sent is how many bytes of large files were sent.
func (h *Hub) Sent() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent
}

// StorageTokens are the tokens that were shown where large files lie: none should be.
func (h *Hub) StorageTokens() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tokens)
}

// Shown are the tokens that were shown for a repository, each once; "" is none.
func (h *Hub) Shown(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(h.shown[name])))
}

// Python is the path of a program that is a Python with huggingface_hub whose Hub this is, or
// the test is skipped.
func (h *Hub) Python(t testing.TB, folder string, environment ...string) string {
	t.Helper()
	root, err := os.Getwd()
	for ; err == nil && root != "/"; root = filepath.Dir(root) {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
	}
	packages := filepath.Join(root, "build/tools/mlxlm")
	if _, err := os.Stat(filepath.Join(packages, "huggingface_hub")); err != nil {
		t.Skip("there is no huggingface_hub here; cmd/internal/deps/deps.sh mlxlm fetches it")
	}
	isRecent := func(python string) bool {
		return exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() == nil
	}
	python := "/usr/bin/python3" // every account reaches it
	if !isRecent(python) {
		if python, err = exec.LookPath("python3"); err != nil || !isRecent(python) {
			t.Skip("there is no Python 3.11 or newer here, as this huggingface_hub wants")
		}
	}
	at := filepath.Join(folder, "python-of-the-hub")
	lines := []string{"#!/bin/sh", "export HF_ENDPOINT=" + h.URL, "export PYTHONPATH=" + packages, "export PYTHONDONTWRITEBYTECODE=1"}
	for _, entry := range environment {
		lines = append(lines, "export "+entry)
	}
	lines = append(lines, "exec "+python+` "$@"`, "")
	if err := os.WriteFile(at, []byte(strings.Join(lines, "\n")), 0o755); err != nil {
		t.Fatal(err)
	}
	return at
}

func isLarge(name string) bool { return !strings.HasSuffix(name, ".json") }

func sha256Of(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func gitOf(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

// refuse answers with an error as the Hub does, and reports whether it did.
func (h *Hub) refuse(w http.ResponseWriter, r *http.Request, name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	h.shown[name] = append(h.shown[name], token)
	switch {
	case name == h.Private && token != h.Token:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusUnauthorized)
	case h.Busy > 0:
		h.Busy--
		w.Header().Set("Retry-After", h.RetryAfter)
		w.WriteHeader(http.StatusTooManyRequests)
	case h.Broken > 0:
		h.Broken--
		w.WriteHeader(http.StatusBadGateway)
	case (h.Gated || name == h.Asks && !strings.HasPrefix(r.URL.Path, "/api/")) && token != h.Token:
		w.Header().Set("X-Error-Code", "GatedRepo")
		w.WriteHeader(http.StatusForbidden)
	default:
		return false
	}
	return true
}

func (h *Hub) handler(storage string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isAPI := strings.CutPrefix(r.URL.EscapedPath(), "/api/models")
		parts := append(strings.SplitN(strings.TrimPrefix(path, "/"), "/", 5), "", "", "", "")
		name := parts[0] + "/" + parts[1]
		switch {
		case !isAPI:
			h.file(w, r, name, parts[3], parts[4], storage)
		case path == "":
			found := []map[string]string{}
			for _, name := range slices.Sorted(maps.Keys(h.Models)) {
				if strings.Contains(name, r.FormValue("search")) {
					found = append(found, map[string]string{"id": name})
				}
			}
			answer(w, found)
		default:
			revision, _ := url.PathUnescape(parts[3])
			h.model(w, r, name, parts[2], cmp.Or(revision, "main"))
		}
	})
}

// file gives a small file, or where a large one lies.
func (h *Hub) file(w http.ResponseWriter, r *http.Request, name, revision, file, storage string) {
	content, ok := h.Models[name][file]
	if h.refuse(w, r, name) {
		return
	}
	if !ok || revision != h.Commit {
		missing(w, "EntryNotFound")
		return
	}
	w.Header().Set("X-Repo-Commit", h.Commit)
	if isLarge(file) {
		hash := sha256Of(content)
		w.Header().Set("X-Linked-Etag", `"`+hash+`"`)
		w.Header().Set("X-Linked-Size", strconv.Itoa(len(content)))
		http.Redirect(w, r, storage+"/"+hash, http.StatusFound)
		return
	}
	w.Header().Set("ETag", `"`+gitOf(content)+`"`)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if file == h.Wrong {
		content = strings.Repeat("x", len(content))
	}
	_, _ = w.Write([]byte(content)) // a HEAD has none
}

// model answers what is asked of a repository: itself, the files of a revision, its branches.
func (h *Hub) model(w http.ResponseWriter, r *http.Request, name, what, revision string) {
	files, ok := h.Models[name]
	switch {
	case h.refuse(w, r, name):
	case !ok:
		missing(w, "RepoNotFound")
	case what == "refs":
		answer(w, map[string]any{"tags": []any{}, "converts": []any{}, "branches": []any{map[string]string{"name": "main", "ref": "refs/heads/main", "targetCommit": h.Commit}}})
	case revision != "main" && revision != h.Commit:
		missing(w, "RevisionNotFound")
	default:
		tree, siblings := []any{}, []any{}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			content := files[file]
			entry := map[string]any{"type": "file", "path": file, "size": len(content), "oid": gitOf(content)}
			sibling := map[string]any{"rfilename": file, "size": len(content), "blobId": gitOf(content)}
			if isLarge(file) {
				entry["lfs"] = map[string]any{"oid": sha256Of(content), "size": len(content), "pointerSize": 134}
				sibling["size"] = len(content) + h.Larger
				sibling["lfs"] = map[string]any{"sha256": sha256Of(content), "size": len(content) + h.Larger, "pointerSize": 134}
			}
			tree, siblings = append(tree, entry), append(siblings, sibling)
		}
		if what == "tree" {
			answer(w, tree)
			return
		}
		gated := any(false)
		if name == h.Asks {
			gated = "auto"
		}
		answer(w, map[string]any{"id": name, "sha": h.Commit, "siblings": siblings, "private": name == h.Private, "gated": gated})
	}
}

// storage is where large files lie: another address, as with Hugging Face.
func (h *Hub) storage(w http.ResponseWriter, r *http.Request) {
	content, from, isWrong := "", 0, false
	for _, files := range h.Models {
		for name, one := range files {
			if sha256Of(one) == strings.TrimPrefix(r.URL.Path, "/") {
				content, isWrong = one, name == h.Wrong
			}
		}
	}
	status := http.StatusOK
	if asked, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		from, _ = strconv.Atoi(strings.TrimSuffix(asked, "-"))
		status = http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
	}
	rest := content[from:]
	if isWrong {
		rest = strings.Repeat("x", len(rest))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(rest)))
	w.WriteHeader(status)
	h.mu.Lock()
	if token := r.Header.Get("Authorization"); token != "" {
		h.tokens = append(h.tokens, token)
	}
	isCut := h.Cuts > 0 && len(rest) > h.CutAfter
	if isCut {
		h.Cuts--
		rest = rest[:h.CutAfter]
	}
	h.sent += int64(len(rest))
	h.mu.Unlock()
	_, _ = w.Write([]byte(rest)) // whoever asked may be gone
	if isCut {
		_ = http.NewResponseController(w).Flush()
		if h.Hold != nil {
			<-h.Hold
		}
		panic(http.ErrAbortHandler)
	}
}

func missing(w http.ResponseWriter, code string) {
	w.Header().Set("X-Error-Code", code)
	w.WriteHeader(http.StatusNotFound)
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // whoever asked may be gone
}

package look

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below a new folder: an empty content with a slash at the end
// of the name is a folder, "-> PATH" a link, and what begins with #! or has
// "binary" is executable.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case strings.HasPrefix(content, "-> "):
			must(t, os.Symlink(strings.ReplaceAll(content[3:], "ROOT", root), path))
		default:
			mode := os.FileMode(0o644)
			if strings.HasPrefix(content, "#!") || strings.HasPrefix(content, "binary") {
				mode = 0o755
			}
			must(t, os.WriteFile(path, []byte(strings.ReplaceAll(content, "ROOT", root)), mode))
		}
	}
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakePython answers as Python does, with a version and folders below the tree,
// and counts how often it was asked.
func fakePython(version string, own string, folders ...string) string {
	answer := version + `\000` + own + `\000ROOT/user`
	for _, f := range folders {
		answer += `\000ROOT/` + f
	}
	return "#!/bin/sh\necho x >>ROOT/asked\necho noise\nprintf '%s" + answer + "%s' \"$4\" \"$4\"\n"
}

func metadata(version string) string {
	return "Metadata-Version: 2.1\nName: x\nVersion: " + version + "\n\nVersion: 9\n"
}

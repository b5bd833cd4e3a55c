package ignore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fulmen/native/nativetest/testkit"
)

// judge answers for a path as a walk from the root would: what is in an excluded
// folder is excluded.
func judge(files map[string]string, name string, folder bool) bool {
	var rules *Rules
	if text, ok := files[""]; ok {
		rules = Parse(nil, "", []byte(text))
	}
	elements := strings.Split(name, "/")
	for i := range elements {
		at := strings.Join(elements[:i+1], "/")
		last := i == len(elements)-1
		if rules.Excludes(at, !last || folder) {
			return true
		}
		if text, ok := files[at]; ok && !last {
			rules = Parse(rules, at, []byte(text))
		}
	}
	return false
}

// TestAsGit compares random rules and paths with what git says of them.
func TestAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to compare with")
	}
	random := testkit.Fixed(t, 7).Source(11)
	rounds := 60
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		compare(t, random)
	}
}

var names = []string{"a", "b", "ab", "abc", "a.o", "[a]", "a b", "-", "A", `a\b`, "x!", "#c", "a ", "*"}

var pieces = []string{
	"a", "b", "ab", "*", "**", "***", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[[:punct:]]", "[]a]", `[\]a]`, "[a", "[[:foo:]]",
	`\a`, `\*`, `\`, "/", "/", "/**/", "**/", "!", "#", " ", `\ `, ".o", "*.o", "c", "-", "[--a]", "[a-]", "[[a]", "[[:a]", "A", "x!",
}

// odd is what git judges by accident rather than by its documentation: two stars
// that are only a part of an element, and a slash behind a backslash.
var odd = regexp.MustCompile(`[^/!]\*\*+/|^\*\*+[^/*]|\\/`)

func compare(t *testing.T, random *rand.Rand) {
	t.Helper()
	root := t.TempDir()
	folders := []string{"", "a", "a/b", "ab", "a/b/abc"}
	paths := map[string]bool{}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(root, f), 0o755); err != nil {
			t.Fatal(err)
		}
		if f != "" {
			paths[f] = true
		}
	}
	for _, f := range folders {
		for _, n := range names {
			name := path.Join(f, n)
			if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			paths[name] = false
		}
	}
	files := map[string]string{}
	for _, f := range folders {
		if f != "" && random.IntN(2) == 0 {
			continue
		}
		var text strings.Builder
		for range 1 + random.IntN(4) {
			if random.IntN(5) == 0 {
				text.WriteByte('!')
			}
			line := "a**/"
			for odd.MatchString(line) {
				line = ""
				for range 1 + random.IntN(5) {
					line += pieces[random.IntN(len(pieces))]
				}
			}
			text.WriteString(line)
			text.WriteString([]string{"\n", "\n", "/\n", " \n", "\r\n"}[random.IntN(5)])
		}
		files[f] = text.String()
		if err := os.WriteFile(filepath.Join(root, f, ".gitignore"), []byte(files[f]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, root, nil, "init", "-q")
	var question bytes.Buffer
	for name := range paths {
		question.WriteString(name + "\x00")
	}
	answer := git(t, root, &question, "check-ignore", "-z", "--no-index", "--stdin")
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(answer, "\x00") {
		ignored[name] = true
	}
	for name, folder := range paths {
		if got := judge(files, name, folder); got != ignored[name] {
			t.Errorf("%q: excluded is %v, git says %v; rules %q", name, got, ignored[name], files)
		}
	}
}

func git(t *testing.T, dir string, in *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	if in != nil {
		cmd.Stdin = in
	}
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 { // 1: none is ignored
		t.Fatalf("git %v: %v\n%s", args, err, diag.String())
	}
	return string(out)
}

func FuzzRules(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, "a/b/c", true)
	}
	f.Fuzz(func(t *testing.T, text, name string, folder bool) {
		before := Parse(nil, "", []byte(text)).Excludes(name, folder)
		if Parse(nil, "", []byte(text+"\n*")).Excludes(name, folder) != true {
			t.Error("a star excludes everything")
		}
		if Parse(Parse(nil, "", []byte(text)), "", nil).Excludes(name, folder) != before {
			t.Error("a file that says nothing changes nothing")
		}
	})
}

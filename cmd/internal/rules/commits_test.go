package rules

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	// maxSubject is how long the subject of a commit may be, in characters.
	maxSubject = 72
	// recentCommits are looked at where nothing says which are new.
	recentCommits = 20
)

var (
	// subjectForm is `package: imperative`, of several packages too.
	subjectForm = regexp.MustCompile(`^[a-z][\w./-]*(?:, [a-z][\w./-]*)*: [a-z]\S*(?: .*[^.])?$`)
	// notImperative are first words that tell what was done.
	notImperative = regexp.MustCompile(`: (?:[a-z]+[^e]ed|[a-z]{3,}ing|fixes|adds|removes|makes|changes|updates|moves)(?: |$)`)
	isImperative  = regexp.MustCompile(`: (?:embed|shed|bring|string|spring)(?: |$)`)
)

// badSubject says what is wrong with the subject of a commit; empty = nothing.
func badSubject(subject string) string {
	switch n := len([]rune(subject)); {
	case n > maxSubject:
		return "has " + strconv.Itoa(n) + " characters, and may have " + strconv.Itoa(maxSubject)
	case !subjectForm.MatchString(subject):
		return "is not of the form `package: imperative`, in small letters and without a full stop"
	case notImperative.MatchString(subject) && !isImperative.MatchString(subject):
		return "tells what was done, instead of what to do"
	}
	return ""
}

// TestCommitSubjects checks the commits that the main branch of the remote has not got; where
// no remote is known, the last ones.
func TestCommitSubjects(t *testing.T) {
	tree, err := findTree()
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", tree.root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if !tree.has(".git") {
		t.Skip("the repository came without its history")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	since := []string{"-" + strconv.Itoa(recentCommits)}
	if base, err := git("merge-base", "HEAD", "origin/main"); err == nil {
		since = []string{base + "..HEAD"}
	}
	out, err := git(append([]string{"log", "--no-merges", "--format=%h %s"}, since...)...)
	if err != nil {
		t.Fatalf("git cannot list the commits: %v", err)
	}
	for line := range strings.Lines(out) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if what := badSubject(subject); what != "" {
			t.Errorf("%s: the subject %q %s (remedy: git commit --amend, or git rebase -i for an older one)", commit, subject, what)
		}
	}
}

func TestBadSubject(t *testing.T) {
	is := is.New(t)
	for _, good := range []string{"native: feed the watchdog", "api, daemon/internal/job: join files", "rules: embed lists", "docs: need less", "go.mod: raise"} {
		is.Equal(badSubject(good), "") // is right
	}
	for _, bad := range []string{
		"Add a file", "api: Add a file", "api: add a file.", "api add a file", "api: added a file", "api: adding a file", "api: fixes it", ": x", "",
		"api: " + strings.Repeat("a", maxSubject),
	} {
		is.True(badSubject(bad) != "") // is wrong
	}
}

package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrase is something that no file of the repository says.
type phrase struct {
	words   []string // in small letters: one of them is in all that the pattern finds, and is found sooner
	pattern *regexp.Regexp
	allowed func(match string) bool // nil: never
	what    string
	remedy  string
}

// hosts are the registries that tools know by themselves, in two halves, so that
// this file does not name them either.
var hosts = [][2]string{
	{"pypi", ".org"}, {"files.pythonhosted", ".org"}, {"proxy.golang", ".org"}, {"sum.golang", ".org"},
	{"registry.npmjs", ".org"}, {"registry.npmjs", ".com"}, {"registry.yarnpkg", ".com"}, {"deb.debian", ".org"},
	{"security.debian", ".org"}, {"archive.ubuntu", ".com"}, {"crates", ".io"}, {"rubygems", ".org"},
	{"repo.maven.apache", ".org"}, {"repo1.maven", ".org"}, {"ghcr", ".io"}, {"registry-1.docker", ".io"},
}

// exampleUsers are the accounts that examples and tests may give a home.
var exampleUsers = map[string]bool{"ada": true, "alan": true, "alice": true, "bob": true, "grace": true, "me": true, "user": true, "you": true}

// vocabularyExempt are the files whose text tools write, or the law does.
var vocabularyExempt = map[string]bool{
	"go.sum": true, "LICENSE": true, "package-lock.json": true,
	"cmd/internal/rules/vocabulary_test.go": true,
}

func phrases() []phrase {
	var names, quoted []string
	for _, h := range hosts {
		names = append(names, h[0]+h[1])
		quoted = append(quoted, regexp.QuoteMeta(h[0]+h[1]))
	}
	return []phrase{
		{
			words: names, pattern: regexp.MustCompile(`(?i)\b(?:` + strings.Join(quoted, "|") + `)\b`),
			what: "names a package registry", remedy: "leave the host to the tool's own configuration, so that mirrors work",
		}, {
			words: []string{"index-url"}, pattern: regexp.MustCompile(`--(?:extra-)?index-url[= ]+['"]?https?://\S+`),
			what: "names a package index", remedy: "leave the index to the tool's own configuration, so that mirrors work",
		}, {
			words: []string{"/work/", "/root/"}, pattern: regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:,\[])/(?:work|root)/[\w.-]+`),
			what: "names a path of one machine", remedy: "make the path relative to the repository or to the user's home",
		}, {
			words: []string{"/home/", "/users/"}, pattern: regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:,\[])/(?:home|Users)/[A-Za-z][\w.-]*`),
			allowed: func(m string) bool { return exampleUsers[path.Base(m)] },
			what:    "names a person's home folder", remedy: "use the user's home, or one of the example users of cmd/internal/rules/vocabulary_test.go",
		}, {
			words: []string{"issue", "ticket", "agent", "session", "authored"}, pattern: regexp.MustCompile(`(?i)\bissues? (?:#|no\.? ?|number )?\d+\b|\bissue #|\b(?:this|the) ticket\b|\b(?:helper|sub-?|coding) ?agents?\b|\b(?:coding|agent|chat|work) session\b|\bco-authored-by\b`),
			what: "speaks of how the work is organised", remedy: "say what the product does and why, which lasts longer",
		}, {
			words: []string{"shared/", "claude", "chatgpt", "copilot", "anthropic", "codex", "ceo"}, pattern: regexp.MustCompile(`\bshared/(?:[A-Z][A-Z-]+\.md|fixtures|hooks)\b|\b(?:Claude|ChatGPT|Copilot|Anthropic|OpenAI Codex)\b|\bCEO\b`),
			what: "speaks of how the work is organised", remedy: "say what the product does and why, which lasts longer",
		},
	}
}

// checkVocabulary refuses phrases in every text file of the repository.
func checkVocabulary(t *Tree) ([]Problem, error) {
	var out []Problem
	all := phrases()
	for _, name := range t.files {
		if vocabularyExempt[path.Base(name)] || vocabularyExempt[name] {
			continue
		}
		lines, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			small := strings.ToLower(l.text)
			for _, p := range all {
				if !slices.ContainsFunc(p.words, func(word string) bool { return strings.Contains(small, word) }) {
					continue
				}
				for _, m := range p.pattern.FindAllString(l.text, -1) {
					if p.allowed == nil || !p.allowed(m) {
						out = append(out, Problem{
							File: name, Line: l.no, What: strings.TrimSpace(m) + " " + p.what, Remedy: p.remedy,
						})
					}
				}
			}
		}
	}
	return out, nil
}

func TestVocabulary(t *testing.T) {
	tests := []struct {
		text string
		bad  bool
	}{
		{"https://" + hosts[0][0] + hosts[0][1] + "/simple", true},
		{"HTTPS://" + "CRATES" + ".IO", true},
		{"from PyPI, by pip's own configuration", false},
		{"pip download --index-url https://mirror.example/simple x==1", true},
		{"pip download --no-index --find-links build", false},
		{"cd /work/main && make", true},
		{"ls (/root/.cache)", true},
		{"the tree's root/ folder, network/ and frame/work/ are fine", false},
		{"runner/work/x", false},
		{`"cwd":"/Users/ada/train.py"`, false},
		{`"cwd":"/Users/steve/train.py"`, true},
		{"HOME=/home/jane", true},
		{"HOME=/home/user/x", false},
		{"as issue 12 says", true},
		{"see issue #7", true},
		{"Issues 3 and 4", true},
		{"the issuer of a certificate; an issue with cables", false},
		{"on the D-Bus session bus; its own session; sessionStorage; TLS session tickets", false},
		{"written in a coding session", true},
		{"the helper agent did", true},
		{"a privileged helper tool and the launch agent", false},
		{"shared/DESIGN.md says", true},
		{"a shared/memory segment", false},
		{"Co-Authored-By: x", true},
		{"written by ChatGPT", true},
	}
	for _, tt := range tests {
		var want []string
		if tt.bad {
			want = []string{"docs/x.md:2"}
		}
		runCases(t, []checkCase{{tt.text, checkVocabulary, map[string]string{
			"docs/x.md": "# Title\n" + tt.text + "\n", "go.sum": tt.text, "icon.png": "\x00" + tt.text,
		}, want}})
	}
}

package rules

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// pageWords is how many words a page may have that is read first.
var pageWords = map[string]int{"README.md": 700, "docs/get-started.md": 900}

// allWords is how many words all pages may have together, without what is generated.
const allWords = 44200

// byProgram is what of a page a generator writes, or a test runs or compares with something.
var byProgram = regexp.MustCompile("(?s)<!-- (?:table|keys): .*?<!-- end of (?:table|keys) -->|<!-- (?:printed|client|program): [^>]*-->\n```.*?```")

// decisionWords is how many words a decision may have, its heading included.
const decisionWords = 150

var decisionHeading = regexp.MustCompile(`^## (\d+)\. .+ \(\d{4}-\d{2}-\d{2}\)$`)

// checkDocs wants the pages that are read first, and all together, to be short, and each
// decision to say context, choice and consequence, or what replaced it.
func checkDocs(t *Tree) ([]Problem, error) {
	var out []Problem
	total := 0
	for _, name := range t.files {
		if name != "README.md" && path.Dir(name) != "docs" || path.Ext(name) != ".md" || name == "docs/reference.md" {
			continue
		}
		text, err := fs.ReadFile(t.fsys, name)
		if err != nil {
			return nil, err
		}
		total += len(strings.Fields(byProgram.ReplaceAllString(string(text), "")))
	}
	if total > allWords {
		out = append(out, Problem{File: "docs", What: fmt.Sprintf("has %d words, where %d are allowed", total, allWords), Remedy: "say each thing once, on the page where its reader looks"})
	}
	for name, most := range pageWords {
		if !t.has(name) {
			continue
		}
		lines, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		words := 0
		for _, l := range lines {
			words += len(strings.Fields(l.text))
		}
		if words > most {
			out = append(out, Problem{File: name, What: fmt.Sprintf("has %d words, where %d are allowed", words, most), Remedy: "move what few need to a page of its own"})
		}
	}
	const decisions = "docs/decisions.md"
	if !t.has(decisions) {
		return out, nil
	}
	lines, err := t.lines(decisions)
	if err != nil {
		return nil, err
	}
	number, from, text := 0, 0, ""
	end := func() {
		switch n := len(strings.Fields(text)); {
		case number == 0:
		case n > decisionWords:
			out = append(out, Problem{File: decisions, Line: from, What: fmt.Sprintf("the decision has %d words, where %d are allowed", n, decisionWords), Remedy: "say it shorter"})
		case !strings.Contains(text, "\nSuperseded by ") && (!strings.Contains(text, "**Choice:**") || !strings.Contains(text, "**Consequence:**")):
			out = append(out, Problem{File: decisions, Line: from, What: "the decision has no **Choice:** or no **Consequence:**", Remedy: "say both, or `Superseded by N.`"})
		}
	}
	for _, l := range lines {
		if strings.HasPrefix(l.text, "## ") {
			end()
			number, from, text = number+1, l.no, ""
			if found := decisionHeading.FindStringSubmatch(l.text); found == nil || found[1] != fmt.Sprint(number) {
				out = append(out, Problem{File: decisions, Line: l.no, What: "this is not the heading of decision " + fmt.Sprint(number), Remedy: "write `## NUMBER. What was decided (DATE)`, numbered without gaps"})
			}
		}
		text += l.text + "\n"
	}
	end()
	return out, nil
}

func TestDocs(t *testing.T) {
	const whole = "## 1. It is so (2026-11-21)\n\nContext. **Choice:** this. **Consequence:** that.\n"
	page := func(name, text string, want ...string) checkCase {
		return checkCase{name, checkDocs, map[string]string{"docs/decisions.md": text}, want}
	}
	runCases(t, []checkCase{
		page("whole", whole+"\n## 2. It was so (2026-11-22)\n\nSuperseded by 1.\n"),
		page("no consequence", "## 1. It is so (2026-11-21)\n\n**Choice:** this.\n", "docs/decisions.md:1"),
		page("a gap", whole+"\n## 3. It was so (2026-11-22)\n\nSuperseded by 1.\n", "docs/decisions.md:5"),
		page("no date", "## 1. It is so\n\nSuperseded by 2.\n", "docs/decisions.md:1"),
		page("long", whole+strings.Repeat("word ", decisionWords), "docs/decisions.md:1"),
		{"all too long", checkDocs, map[string]string{"docs/a.md": strings.Repeat("word ", allWords+1), "docs/reference.md": "word", "docs/x/b.md": "word"}, []string{"docs:0"}},
		{"much generated", checkDocs, map[string]string{"docs/a.md": "<!-- table: a -->\n" + strings.Repeat("word ", allWords+1) + "<!-- end of table -->\n"}, nil},
		{"a long README", checkDocs, map[string]string{"README.md": strings.Repeat("word ", 701)}, []string{"README.md:0"}},
	})
}

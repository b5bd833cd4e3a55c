package rules

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// text is something that a person may read, with its place.
type text struct {
	file     string
	line     int
	reported string
}

// speaking are the folders whose programs speak to people.
var speaking = []string{"app", "cmd/fulmen", "cmd/fulmen-app", "cmd/fulmend", "cmd/fulmen-shim", "cmd/fulmen-rank", "cmd/internal", "daemon", "mlxbridge", "native"}

// mute are folders below them that only tests hear.
var mute = []string{"cmd/internal/rules", "daemon/e2e", "native/nativetest", "native/darwin/simfw"}

// unplain is what no text says, with the plain words for it.
var unplain = []struct {
	pattern *regexp.Regexp
	remedy  string
}{
	{regexp.MustCompile(`(?i)\bis well\b|\bbefore of\b|\bof before\b`), "say what it is: has no errors, the one from before"},
	{regexp.MustCompile(`(?i)\bas whom\b|\bas which (?:local )?account\b`), "ask for the account: which account it runs as"},
	{regexp.MustCompile(`\b(?:ended|exited) with (?:status|[0-9]|%d)|\bexit status\b`), "call it exit code, as the jobs do"},
	{regexp.MustCompile(`\b(?:does|do|did|are|is) not (?:\w+ )+any more\b|\bcount any more\b`), "write no longer"},
	{regexp.MustCompile(`(?:^|[^e] )\bis no (?:node|member|port|backend|policy|socket|host|number|address|TOML|JSON)\b`), "write is not a"},
	{regexp.MustCompile(`(?i)\b(?:oops|sorry|please|unfortunately|failed to)\b`), "say what happened and what to do"},
	{regexp.MustCompile(`\b[Mm]end\b|\banew\b|\bfor ever\b|\bfor want of\b|\blet in\b|\bgood-bye\b`), "use the everyday word: fix, again, until, because"},
	{regexp.MustCompile(`[a-z,;:]  [a-z]+ [a-z].*[.?]$`), "write one blank between words"},
	{regexp.MustCompile(`[a-z] ?\.\.\.$`), "write … after what goes on or asks more"},
	{regexp.MustCompile(`NODE:RECEPTACLE|\b(?:device|cable|port) (?:at|of|in) receptacle\b`), "call it port, as the glossary does"},
}

// TestTexts prints every text that a person may read, in the order of the files, so
// that all of them can be read as a stranger does: go test -run TestTexts -v.
func TestTexts(t *testing.T) {
	tree, err := findTree()
	if err != nil {
		t.Fatal(err)
	}
	all, err := tree.texts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2000 {
		t.Errorf("%d texts are found: the collector has lost its way", len(all))
	}
	for _, one := range all {
		t.Logf("%s:%d: %s", one.file, one.line, one.reported)
	}
}

// checkTexts refuses what is not plain in texts to people.
func checkTexts(t *Tree) ([]Problem, error) {
	all, err := t.texts()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, one := range all {
		for _, u := range unplain {
			if found := u.pattern.FindString(one.reported); found != "" {
				out = append(out, Problem{File: one.file, Line: one.line, What: strconv.Quote(found) + " is not plain: " + one.reported, Remedy: u.remedy})
			}
		}
	}
	return out, nil
}

// texts gives the sentences of reasons and words, the literals with a blank in the
// packages that speak, and those of the dashboard.
func (t *Tree) texts() ([]text, error) {
	sources, err := t.sources()
	if err != nil {
		return nil, err
	}
	lies := func(in []string, name string) bool {
		return slices.ContainsFunc(in, func(dir string) bool { return within(dir, name) })
	}
	var all []text
	for _, s := range sources {
		if lies(speaking, s.name) && !lies(mute, s.name) && !s.isTest() && !ast.IsGenerated(s.file) {
			all = append(all, s.texts()...)
		}
	}
	for _, name := range t.files {
		find := textOf[path.Ext(name)]
		page := within("assets/dashboard/src", name) && !within("assets/dashboard/src/topology/gallery", name) && path.Base(name) != "types.ts"
		if find == nil || !page && path.Dir(name) != "daemon/api" || strings.HasSuffix(name, ".test.ts") {
			continue
		}
		content, err := t.read(name)
		if err != nil {
			return nil, err
		}
		for _, at := range find.FindAllSubmatchIndex(content, -1) {
			for group := 2; group < len(at); group += 2 {
				if at[group] < 0 {
					continue
				}
				reported := strings.Join(strings.Fields(string(content[at[group]:at[group+1]])), " ")
				if strings.Contains(reported, " ") && !code.MatchString(reported) {
					all = append(all, text{name, strings.Count(string(content[:at[group]]), "\n") + 1, reported})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b text) int { return strings.Compare(a.file, b.file) })
	return all, nil
}

// textOf finds what people read in files that are not Go, by their ending.
var textOf = map[string]*regexp.Regexp{
	".toml":   regexp.MustCompile(`(?m)^(?:text|remedy|doc) = "(.*)"$|^  \["\w+", "\w+", "(.*)"\],$`),
	".ts":     regexp.MustCompile(`(?m)^\s*//.*$|/\*[^\x00]*?\*/|'([^'\n]*)'|"([^"\n]*)"|` + "`([^`]*)`"),
	".svelte": regexp.MustCompile(`(?m)^\s*//.*$|/\*[^\x00]*?\*/|<!--[^>]*-->|<style>[^\x00]*</style>|"([^"\n]*)"|` + "`([^`]*)`" + `|>([^<>]*[a-z] [a-z][^<>]*)<`),
}

// code is what those find too much: statements, blocks of the markup, styles.
var code = regexp.MustCompile(`=>|import |const |[{][#/:@]|: \w+;|var\(|^[a-z-]+(?: [a-z-]+)*$|===`)

// texts gives the literals of s with a blank in them; of a sum of texts, the whole.
// What is logged or a panic, and the tags of fields, are for others.
func (s source) texts() []text {
	var all []text
	tags := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n == nil || tags[n] {
			return false
		}
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tags[n.Tag] = true
			}
		case *ast.CallExpr:
			name := lastName(n.Fun)
			method, ok := n.Fun.(*ast.SelectorExpr)
			return name != "panic" && !(ok && logMethods[name] && logger.MatchString(lastName(method.X)))
		case *ast.BinaryExpr, *ast.BasicLit:
			if reported, literal := spoken(n.(ast.Expr)); literal {
				if reported = strings.ReplaceAll(reported, "\n", "⏎"); strings.Contains(strings.TrimSpace(reported), " ") {
					all = append(all, text{s.name, s.line(n.Pos()), reported})
				}
				return false
			}
		}
		return true
	})
	return all
}

// spoken gives a literal or a sum with one, with {} for what varies in it.
func spoken(x ast.Expr) (reported string, literal bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		reported, err := strconv.Unquote(x.Value)
		return reported, err == nil && x.Kind == token.STRING
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			left, one := spoken(x.X)
			right, other := spoken(x.Y)
			return left + right, one || other
		}
	}
	return "{}", false
}

func TestTextsThatAreNotPlain(t *testing.T) {
	files := map[string]string{
		"app/a.go": "package app\n\nvar a = \"The configuration is well.\"\n\nvar b = \"It \" + x() + \" ended with status 1\"\n\n" +
			"var c = \"It ended with exit code 1.\"\n\nfunc d() { log.Info(\"it is well\"); panic(\"please do\") }\n\nvar e struct { F int `json:\"is well\"` }\n",
		"app/a_test.go":                   "package app\n\nvar a = \"it is well\"\n",
		"native/nativetest/a.go":          "package nativetest\n\nvar a = \"it is well\"\n",
		"daemon/api/reasons.toml":         "# please\n[a]\ntext = \"It failed to run.\"\nremedy = \"Run it again.\"\n",
		"assets/dashboard/src/A.svelte":   "<script>const a = b;</script>\n<p>Nobody waits  any longer</p>\n<p>Loading it...</p>\n",
		"assets/dashboard/src/b.ts":       "// please wait\nexport const a = \"oops, not there\";\n",
		"assets/dashboard/src/b.test.ts":  "const a = \"oops, not there\";\n",
		"assets/dashboard/src/c/types.ts": "const a = \"oops, not there\";\n",
	}
	runCases(t, []checkCase{{"texts", checkTexts, files, []string{
		"app/a.go:3", "app/a.go:5", "assets/dashboard/src/A.svelte:3", "assets/dashboard/src/b.ts:2", "daemon/api/reasons.toml:3",
	}}})
}

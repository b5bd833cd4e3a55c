package rules

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/matryer/is"
)

// term is what the field calls something that has no name of our own.
type term struct {
	// words are those that no name has, apart by spaces.
	words string
	// use is what to say instead.
	use string
	// isVerb says that they are everyday words: names of tests, which are sentences, have them.
	isVerb bool
	// isMessage says that no text for people has them either.
	isMessage bool
}

// terms are the words that names do without, since only this project means by them what it
// would. In prose they mean what they say.
var terms = []term{
	{words: "ear ears", use: "listener", isMessage: true},
	{words: "vigil vigils", use: "power assertion", isMessage: true},
	{words: "thrift thrifty", use: "GC tuning", isMessage: true},
	{words: "patience patient", use: "timeout, or deferred replication"},
	{words: "lending peace", use: "sharing, allowed or idle"},
	{words: "attended unattended", use: "watched"},
	{words: "errand errands", use: "user action", isMessage: true},
	{words: "trip trips", use: "user action, or round trip"},
	{words: "wish wishes wished", use: "request", isMessage: true},
	{words: "desk desks", use: "scenario, or cluster"},
	{words: "air aired", use: "network, or published"},
	{words: "homeless", use: "without a port, or without a home", isMessage: true},
	{words: "stranger strangers strange", use: "non-member, or unproven"},
	{words: "door doors", use: "route, endpoint or port"},
	{words: "receptacle receptacles", use: "port; its number is a PortNumber"},
	{words: "shelf shelves", use: "records of a node"},
	{words: "fate fates", use: "outcome"},
	{words: "voice voices", use: "what it is"},
	{words: "vouch vouches vouched", use: "sign, or verify"},
	{words: "mend mends mended", use: "repair, or retry", isVerb: true},
	{words: "knock knocks", use: "connect", isVerb: true},
	{words: "deaf", use: "unresponsive", isVerb: true},
	{words: "came rang", use: "arrived, or received", isVerb: true},
	{words: "news", use: "updates, or changed", isVerb: true},
	{words: "hear hears heard hearing unheard", use: "receive, or listen", isVerb: true},
	{words: "tell tells told telling teller untold", use: "notify, report or print", isVerb: true},
	{words: "say says said saying unsaid spoke", use: "report, send or print", isVerb: true},
}

// termExceptions are names and texts that stay, by file and name, with the reason.
var termExceptions = map[string]string{
	"app/build.go errand:":                          "a menu item's id, in golden files",
	"app/menu.go errand":                            "a dialog's kind, in golden files",
	"daemon/api/reason_table.go ReasonNeverHeardOf": "its wire name is fixed by the contract of reasons",
}

var (
	testFunction = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark|Example)(?:[^a-z]|$)`)
	roundTrip    = regexp.MustCompile(`(?i)round[ _-]?trip`)
	plainWord    = regexp.MustCompile(`[A-Za-z]+`)
)

// nameWords splits a name in camel case or with other marks between its words, which it
// gives in small letters.
func nameWords(name string) []string {
	var out []string
	for _, part := range plainWord.FindAllString(roundTrip.ReplaceAllString(name, ""), -1) {
		letters, from := []rune(part), 0
		for i := 1; i <= len(letters); i++ {
			isEnd := i == len(letters) || unicode.IsUpper(letters[i]) &&
				(unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
			if isEnd {
				out = append(out, strings.ToLower(string(letters[from:i])))
				from = i
			}
		}
	}
	return out
}

// declared calls see for every name that the file declares.
func (s source) declared(see func(*ast.Ident)) {
	names := func(all []*ast.Ident) {
		for _, name := range all {
			see(name)
		}
	}
	see(s.file.Name)
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			see(n.Name)
		case *ast.TypeSpec:
			see(n.Name)
		case *ast.ValueSpec:
			names(n.Names)
		case *ast.Field:
			names(n.Names)
		case *ast.LabeledStmt:
			see(n.Label)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					see(name)
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{n.Key, n.Value} {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					see(name)
				}
			}
		}
		return true
	})
}

// strings calls see for every string of the file but tags and paths of imports.
func (s source) strings(see func(at token.Pos, text string)) {
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			tags[n.Tag] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !tags[n] {
				see(n.Pos(), text)
			}
		}
		return true
	})
}

// checkNames refuses the words of [terms] in names of Go and of files, and in what people read.
func checkNames(t *Tree) ([]Problem, error) {
	return namesOf(t, termExceptions)
}

func namesOf(t *Tree, exceptions map[string]string) ([]Problem, error) {
	banned := map[string]term{}
	for _, one := range terms {
		for word := range strings.FieldsSeq(one.words) {
			banned[word] = one
		}
	}
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	used := map[string]bool{}
	check := func(file string, line int, what, name string, allowed func(term) bool) {
		for _, word := range nameWords(name) {
			one, isBanned := banned[word]
			if !isBanned || allowed(one) {
				continue
			}
			if key := file + " " + name; exceptions[key] != "" {
				used[key] = true
				return
			}
			out = append(out, Problem{
				File: file, Line: line, What: what + " " + strconv.Quote(name) + " has the word " + word,
				Remedy: "say " + one.use + ", or give the reason in cmd/internal/rules/names_test.go",
			})
			return
		}
	}
	for _, name := range t.files {
		if !isTestdata(name) {
			check(name, 0, "the file", path.Base(name), func(term) bool { return false })
		}
	}
	for _, s := range all {
		seen := map[string]bool{} // a name is told once a file
		s.declared(func(name *ast.Ident) {
			if !seen[name.Name] {
				seen[name.Name] = true
				check(s.name, s.line(name.Pos()), "the name", name.Name, func(one term) bool { return one.isVerb && testFunction.MatchString(name.Name) })
			}
		})
		if !s.isTest() {
			s.strings(func(at token.Pos, text string) {
				check(s.name, s.line(at), "the text", text, func(one term) bool { return !one.isMessage })
			})
		}
	}
	for key := range exceptions {
		if file, _, _ := strings.Cut(key, " "); !used[key] {
			out = append(out, Problem{File: file, What: "the exception " + strconv.Quote(key) + " of names is of no use", Remedy: "take it out of cmd/internal/rules/names_test.go"})
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return out, nil
}

func TestNames(t *testing.T) {
	is := is.New(t)
	is.Equal(nameWords("newTCPEar2Of_desk-x.go"), []string{"new", "tcp", "ear", "of", "desk", "x", "go"})
	is.Equal(nameWords("RoundTrips, roundTrip"), []string{"s"})
	exceptions := map[string]string{"a/a.go Wish": "the wire has it", "a/a.go gone": "long ago"}
	runCases(t, []checkCase{{"names", func(t *Tree) ([]Problem, error) { return namesOf(t, exceptions) }, map[string]string{
		"a/a.go": "package a\n\ntype ears struct {\n\tWish int `json:\"wish\"`\n\ttold int\n}\n\n// The errand of a desk.\nfunc (e ears) hear(errand int) {\n" +
			"\tfor door := range e.told {\n\t\tdesk, x := 1, \"the errands are made\"\n\t}\n\tlog(\"on a desk, said the year; round trips\")\n\thttp.Wish()\n}\n",
		"a/a_test.go":       "package a\n\nfunc TestItIsHeard() {}\n\nfunc TestErrand() { said := \"an errand\" }\n",
		"a/door.go":         "package a\n",
		"a/testdata/ear.go": "package ear\n\nvar ear int\n",
	}, []string{"a/a.go:0", "a/a.go:10", "a/a.go:11", "a/a.go:11", "a/a.go:3", "a/a.go:5", "a/a.go:9", "a/a.go:9", "a/a_test.go:5", "a/a_test.go:5", "a/door.go:0"}}})
}

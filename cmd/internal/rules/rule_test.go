package rules

import "fmt"

// Rule is one house rule with its reason.
type Rule struct {
	// Name is the name of the subtest that runs the rule.
	Name string
	// Why is the reason the rule exists, for whoever breaks it.
	Why string
	// Check lists where the tree breaks the rule. An error means that the check
	// itself could not be made.
	Check func(t *Tree) ([]Problem, error)
}

// allRules is every house rule, the quick ones first.
func allRules() []Rule {
	return []Rule{
		{"comments", "a reader learns a package from its comments: units, ranges, errors and where a fact comes from", checkComments},
		{"imports", "dependencies point one way, so that a part can be understood, tested and replaced alone", checkImports},
		{"pure", "packages that decide take no clock, so that the same state gives the same answer everywhere", checkPure},
		{"threats", "what reads the bytes of strangers is listed, kept small, and thought about when it grows", checkThreats},
		{"length", "one concept a file; what has grown past the limit has become several", checkLength},
		{"walks", "whoever follows a fact through the code finds each file in the drawing, and no more of them than there were", checkWalks},
		{"docs", "what is read first is short, and a decision says what was weighed", checkDocs},
		{"gofmt", "no time is spent on layout", checkFormat},
		{"timing", "a test that sleeps is slow or flaky; a ticker polls, which needs a reason", checkTiming},
		{"chance", "a random test that failed is run again with its seed", checkChance},
		{"benchmarks", "a benchmark that nobody runs breaks unnoticed", checkBenchmarks},
		{"logs", "a report shows the messages of the log, so nothing of anybody may be in them", checkLogs},
		{"replies", "who reads a reply can do nothing with how a program or a library broke", checkReplies},
		{"texts", "who reads a message is a stranger: it says in plain words what happened, why, and what to do", checkTexts},
		{"reasons", "a reason that nothing gives is a promise to people and programs that nobody keeps", checkReasons},
		{"init", "importing a package changes nothing; what must be set up is set up by the caller", checkInit},
		{"fuzz", "whatever reads bytes from outside is tried with bytes nobody thought of", checkFuzz},
		{"pins", "the same commit builds the same thing in a year, from inputs that are checked", checkPins},
		{"workflows", "a workflow that is not understood is found out only after it was pushed", checkWorkflows},
		{"vocabulary", "the repository speaks of the product, works on any machine and with any mirror", checkVocabulary},
		{"names", "a name is understood by whoever knows the field, not only by who has read all of this code", checkNames},
		{"makefile", "a newcomer finds every command by `make help`", checkMakefile},
		{"goflags", "an app that is built another way crashes on every Mac, and nowhere else", checkGoFlags},
		{"tidy", "go.mod says what is used, no more and no less", checkTidy},
		{"generate", "generated files are what their generators write today", checkGenerate},
		{"vet", "known mistakes are found by tools, not by people", checkVet},
		{"platforms", "a change made on Linux compiles on a Mac, and the other way round", checkPlatforms},
		{"staticcheck", "known mistakes are found by tools, not by people", checkStaticcheck},
	}
}

// Problem is one place where the repository breaks a rule.
type Problem struct {
	// File is slash-separated and relative to the module root; empty when the
	// problem belongs to no file.
	File string
	// Line counts from 1; 0 stands for the whole file.
	Line int
	// What says what is wrong.
	What string
	// Remedy says what to do about it.
	Remedy string
}

// String gives file:line: what is wrong (remedy: what to do).
func (p Problem) String() string {
	where := p.File
	if where == "" {
		where = "."
	}
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Line)
	}
	return fmt.Sprintf("%s: %s (remedy: %s)", where, p.What, p.Remedy)
}

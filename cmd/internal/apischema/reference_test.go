package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Nothing is explained by an empty cell, and every link leads somewhere.
func TestReferenceIsComplete(t *testing.T) {
	is := is.New(t)
	c := readContract(t)
	text := string(c.reference())
	for _, m := range regexp.MustCompile(`\(#([a-z0-9-]+)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, `<a id="`+m[1]+`">`) {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
	for line := range strings.Lines(text) {
		isReason := strings.Count(line, " | ") >= 5 // whose last column is a remedy, and may be empty
		if strings.HasPrefix(line, "| ") && strings.HasSuffix(line, "|  |\n") && !isReason && !strings.Contains(line, "](#type-") {
			t.Errorf("no explanation: %s", line)
		}
	}
	for _, k := range api.Kinds() {
		is.True(strings.Contains(text, "### "+string(k.Kind)+"\n"))
		for _, f := range c.src.Fields(k.Value) {
			if f.Doc == "" {
				t.Errorf("%s: %s has no comment", k.Kind, f.Name)
			}
		}
	}
}

// The page of rules speaks of every kind and code that the types have.
func TestContractsNameEverything(t *testing.T) {
	is := is.New(t)
	raw, err := os.ReadFile("../../../docs/contracts.md")
	is.NoErr(err)
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[a-z][a-z0-9_-]*`).FindAllString(string(raw), -1) {
		words[w] = true
	}
	for _, k := range api.Kinds() {
		if !words[string(k.Kind)] {
			t.Errorf("contracts.md does not name the kind %s", k.Kind)
		}
	}
	for _, c := range api.Codes() {
		if !words[c.String()] {
			t.Errorf("contracts.md does not name the code %s", c)
		}
	}
	for _, p := range append(api.JobPhase("").Values(), api.RankPhase("").Values()...) {
		if !words[p] {
			t.Errorf("contracts.md does not name the phase %s", p)
		}
	}
}

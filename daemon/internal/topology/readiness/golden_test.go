package readiness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files again")

// written is a readiness for a person to read.
func written(c Cable, r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", r.Verdict, r.Text)
	names := map[api.LinkEnd]string{}
	for _, e := range c.ends() {
		names[e.End] = e.Name
	}
	fine := 0
	for _, check := range r.Checks {
		if check.Answer == api.AnswerYes && r.Verdict != api.RDMAReady {
			fine++ // those who are ready show what is said of them
			continue
		}
		mark := string(check.Answer)
		if check.Advice {
			mark += ", advice"
		}
		if check.Reason != "" {
			mark += ", " + string(check.Reason)
		}
		fmt.Fprintf(&b, "%-11s %-8s %s (%s)\n", check.Check, names[check.End], check.Text, mark)
		if check.Remedy != "" {
			fmt.Fprintf(&b, "%-11s %-8s -> %s\n", "", "", check.Remedy)
		}
	}
	if fine > 0 {
		fmt.Fprintf(&b, "and %d of %d as they should be\n", fine, len(r.Checks))
	}
	if len(r.Causes) > 0 {
		b.WriteString("\ncauses\n")
	}
	for _, cause := range r.Causes {
		fmt.Fprintf(&b, "%s: %s\n", cause.Reason, cause.Message)
	}
	b.WriteString(writtenUserActions(UserActions([]Cable{c}, nil)))
	return b.String()
}

func writtenUserActions(userActions []api.RDMAUserAction) string {
	var b strings.Builder
	if price := Price(userActions); price != "" {
		fmt.Fprintf(&b, "\n%s\n", price)
	}
	for _, e := range userActions {
		fmt.Fprintf(&b, "%s, %.0f s, cables %d, done %t\n", e.Kind, e.EstimateS, len(e.Links), e.Done)
		for i, s := range e.Steps {
			mark := " "
			if s.Done {
				mark = "x"
			}
			fmt.Fprintf(&b, "  [%s] %d. %s\n", mark, i+1, s.Text)
		}
		if e.Note != "" {
			fmt.Fprintf(&b, "  %s\n", e.Note)
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	is := is.New(t)
	path := filepath.Join("testdata", name+".golden")
	if *update {
		is.NoErr(os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(got, string(want))
}

func TestSituations(t *testing.T) {
	for _, s := range situations() {
		t.Run(s.name, func(t *testing.T) {
			c := pair()
			s.change(&c)
			r := Of(c)
			is.New(t).Equal(r.Verdict, s.want)
			consistent(t, r)
			golden(t, s.name, written(c, r))
		})
	}
}

// TestEveryGoldenIsASituation keeps texts of situations that are no more away.
func TestEveryGoldenIsASituation(t *testing.T) {
	is := is.New(t)
	names := map[string]bool{"trip-recovery": true, "trip-settings": true, "trips-of-three": true, "by-chance": true}
	for _, s := range situations() {
		names[s.name] = true
	}
	files, err := filepath.Glob("testdata/*.golden")
	is.NoErr(err)
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".golden"); !names[name] {
			t.Errorf("%s is of no situation", f)
		}
	}
	is.Equal(len(files), len(names))
}

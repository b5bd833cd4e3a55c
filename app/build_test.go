package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

var update = flag.Bool("update", false, "write the golden files again")

// draw is a menu as text: what a person reads, and what a click does.
func draw(m Menu) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %q\n%s\n", m.Icon, m.Title, m.Tooltip)
	drawItems(&b, m.Items, "")
	return b.String()
}

func drawItems(b *strings.Builder, items []Item, indent string) {
	for _, i := range items {
		if i.IsSeparator() {
			fmt.Fprintf(b, "%s----\n", indent)
			continue
		}
		line := indent
		if i.Checked {
			line += "✓ "
		}
		line += i.Title
		if i.Disabled {
			line += "  (read only)"
		}
		b.WriteString(line + drawDo(i.Do) + "\n")
		drawItems(b, i.Items, indent+"    ")
	}
}

func drawDo(do *Do) string {
	if do == nil {
		return ""
	}
	var out string
	switch {
	case do.Call != nil:
		out = do.Call.Method
		if do.Call.Params != nil {
			raw, _ := json.Marshal(do.Call.Params)
			out += " " + string(raw)
		}
		if do.Call.Admin {
			out += " as admin"
		}
	case do.Dialog != nil:
		out = "dialog " + string(do.Dialog.Kind) + ": " + do.Dialog.Title + " " + do.Dialog.Text
	case do.Open != "":
		out = "open " + do.Open
	case do.Copy != "":
		out = "copy " + do.Copy
	default:
		out = strings.TrimSpace("app " + string(do.App) + " " + do.Value)
	}
	if do.Confirm != nil {
		out += " after " + do.Confirm.Title + " " + do.Confirm.Text + " [" + do.Confirm.Button + "]"
	}
	return "  -> " + out
}

func TestMenus(t *testing.T) {
	all := states()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, path := draw(Build(all[name])), filepath.Join("testdata", name+".txt")
			if *update {
				is.NoErr(os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(got, string(want))
		})
	}
	files, err := filepath.Glob("testdata/*.txt")
	is.New(t).NoErr(err)
	is.New(t).Equal(len(files), len(all)) // a golden file without a state is old
}

// The first line is the daemon's headline of every sort, with the remedy of the worst below it;
// what it says is not said again.
func TestHeadlineIsFirst(t *testing.T) {
	is := is.New(t)
	raw, err := os.ReadFile("../daemon/internal/health/testdata/headlines.json")
	is.NoErr(err)
	var all []api.NodeConditionsResult
	is.NoErr(json.Unmarshal(raw, &all))
	is.True(len(all) > 20)
	for _, test := range all {
		s := healthy()
		s.Conditions, s.Headline = test.Conditions, test.Headline
		m := Build(s)
		is.Equal(m.Items[0].Title, test.Headline.Text)
		is.Equal(m.Tooltip, "Fulmen: "+test.Headline.Text)
		is.Equal(m.Items[1].Title, "Open Dashboard")
		is.Equal(m.Icon == IconWarning, test.Headline.Problems > 0)
		lines := 0
		each(m.Items, func(i Item) {
			if i.ID == "headline" || strings.HasPrefix(i.ID, "condition:") && strings.HasPrefix(i.Title, "! ") {
				lines++
			}
		})
		is.Equal(lines, max(1, test.Headline.Problems))
		if worst := test.Headline.Worst; worst != nil {
			is.Equal(m.Items[0].Items[0].Title, clean(worst.Remedy))
		}
	}
}

// each calls f with every item, also those of submenus.
func each(items []Item, f func(Item)) {
	for _, i := range items {
		f(i)
		each(i.Items, f)
	}
}

func TestEveryMenuKeepsTheRules(t *testing.T) {
	for name, s := range states() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := Build(s)
			is.True(slices.Contains(Icons(), m.Icon))
			is.True(m.Tooltip != "")
			seen := map[string]bool{}
			each(m.Items, func(i Item) {
				if seen[i.ID] || i.ID == "" {
					t.Errorf("the id %q of %q is not its own", i.ID, i.Title)
				}
				seen[i.ID] = true
				if len([]rune(i.Title)) > 160 || strings.ContainsAny(i.Title, "\n\x1b\u202e") {
					t.Errorf("%q is no line of a menu", i.Title)
				}
				does := i.Do != nil || len(i.Items) > 0
				if !i.IsSeparator() && !does && !i.Disabled {
					t.Errorf("%q can be clicked and does nothing", i.Title)
				}
				if dots := strings.HasSuffix(i.Title, "…"); dots && len(i.Items) > 0 && len([]rune(i.Title)) < maxLine {
					t.Errorf("%q asks for nothing more: it is a submenu", i.Title)
				}
				if i.Do != nil && len(i.Items) > 0 {
					t.Errorf("%q is a submenu and a click", i.Title)
				}
				if i.Do != nil && i.Do.Call != nil {
					info, known := api.LookupMethod(i.Do.Call.Method)
					is.True(known)
					if i.Do.Call.Admin != (info.Class == api.ClassAdmin) {
						t.Errorf("%q: %s is of class %s", i.Title, info.Name, info.Class)
					}
					// RDMA is offered on Thunderbolt 5 alone.
					if p, isChange := i.Do.Call.Params.(api.RDMAChangeParams); isChange && info.Name == "rdma.enable" && !p.AllReady {
						for _, c := range s.Cables {
							if api.LinkRef(c.Link.String()) == p.Links[0] {
								is.Equal(c.Kind, api.LinkTB5)
							}
						}
					}
				}
			})
			is.True(seen["quit"])
			is.True(!m.Items[0].IsSeparator())
			for n := 1; n < len(m.Items); n++ {
				is.True(!m.Items[n].IsSeparator() || !m.Items[n-1].IsSeparator()) // no two lines in a row
			}
			is.Equal(draw(Build(s)), draw(m)) // the same state, the same menu
		})
	}
}

func TestPlacesDoNotDependOnWhatChangesByItself(t *testing.T) {
	is := is.New(t)
	order := func(s State) (ids []string) {
		for _, i := range Build(s).Items {
			ids = append(ids, i.ID)
		}
		return ids
	}
	before := order(healthy())
	s := healthy()
	slices.Reverse(s.Nodes)
	slices.Reverse(s.Cables)
	s.Nodes[0].System.GPUUseRatio = some(0.5)
	s.Nodes[1].Liveness = api.LivenessUnreachable
	s.Cables[0].RDMA = api.RDMACannot
	is.Equal(order(s), before)
}

func TestHoldKeepsEveryLineInItsPlace(t *testing.T) {
	all := states()
	names := slices.Sorted(maps.Keys(all))
	for _, from := range names {
		for _, to := range names {
			is := is.New(t)
			shown := Build(all[from])
			held := Hold(shown, Build(all[to]))
			same(t, shown.Items, held.Items)
			is.Equal(held.Icon, Build(all[to]).Icon) // the icon tells at once
		}
	}
	is := is.New(t)
	gone := healthy()
	gone.Cables = nil
	held := Hold(Build(healthy()), Build(gone))
	each(held.Items, func(i Item) {
		if strings.HasPrefix(i.ID, "cable") {
			is.True(i.Disabled) // nothing is behind it any more
			is.True(i.Do == nil)
		}
	})
	busy := healthy()
	busy.Nodes[0].System.GPUUseRatio = some(0.77)
	is.Equal(draw(Hold(Build(healthy()), Build(busy))), draw(Build(busy))) // what is there is up to date
}

// same checks that the lines are the same ones in the same places.
func same(t *testing.T, a, b []Item) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d lines became %d", len(a), len(b))
	}
	for n := range a {
		if a[n].ID != b[n].ID {
			t.Fatalf("%s became %s", a[n].ID, b[n].ID)
		}
		same(t, a[n].Items, b[n].Items)
	}
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkBuildSixteenMacs(b *testing.B) {
	s := states()["sixteen_macs"]
	for b.Loop() {
		Build(s)
	}
}

func TestSince(t *testing.T) {
	is := is.New(t)
	for d, want := range map[time.Duration]string{
		10 * time.Second: "less than a minute", 61 * time.Second: "1 min", 134 * time.Minute: "2 h 14 min", 49 * time.Hour: "2 d 1 h",
	} {
		is.Equal(since(now, now.Add(-d)), want)
	}
}

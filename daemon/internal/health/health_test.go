package health

import (
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files")

// The words of every condition, as people read them.
func TestTexts(t *testing.T) {
	var b strings.Builder
	for _, c := range Conditions() {
		row, err := json.MarshalIndent(api.Condition{
			Code: c.Code, Severity: c.Severity, Text: c.Text, Remedy: c.Remedy, Action: c.Action, DependsOn: c.DependsOn,
			Since: api.TimeOf(time.Unix(0, 0)),
		}, "", "  ")
		is.New(t).NoErr(err)
		b.Write(row)
		b.WriteByte('\n')
	}
	text := b.String()
	file := filepath.Join("testdata", "conditions.json")
	if *update {
		is.New(t).NoErr(os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	is.New(t).NoErr(err)
	if text != string(want) {
		t.Errorf("the conditions differ from %s; after reading the difference, run the tests with -update\n%s", file, text)
	}
}

func TestTableIsSound(t *testing.T) {
	seen := map[api.Reason]bool{}
	for _, c := range Conditions() {
		t.Run(string(c.Code), func(t *testing.T) {
			is := is.New(t)
			is.True(!seen[c.Code])
			seen[c.Code] = true
			is.NoErr(api.NameCondition.Check(string(c.Code)))
			is.True(c.Severity.Valid())
			for _, s := range []string{c.Text, c.Remedy} {
				is.True(strings.HasSuffix(s, ".") && !strings.Contains(s, "\n")) // sentences, with a next step
				is.True(unicode.IsUpper([]rune(s)[0]) || strings.HasPrefix(s, "macOS"))
			}
			for _, d := range c.DependsOn {
				info, isReason := api.LookupReason(d)
				own := slices.ContainsFunc(Conditions(), func(o Info) bool { return o.Code == d })
				is.True(d != c.Code && (own || isReason && info.Severity != "")) // what explains it can hold
			}
			if c.Action != nil {
				is.True(c.Action.Kind.Valid() && c.Action.Label != "")
				if c.Action.Kind == api.ActionMethod {
					_, ok := api.LookupMethod(c.Action.Target)
					is.True(ok) // a click calls a method that exists
				}
			}
			if info, ok := api.LookupReason(c.Code); ok {
				is.Equal(c.Text, info.Text) // an error and a condition of one reason read alike
				is.True(info.Severity == "" || info.Severity == c.Severity)
			}
		})
	}
}

// board is what a reader of documents sees. It fails as often as told.
type board struct {
	mu    sync.Mutex
	docs  map[string]api.Condition
	puts  int
	fails int
}

func (b *board) Put(kind api.Kind, name string, value any, _ map[string]api.Reason) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return errors.New("the disk is full")
	}
	d := api.Document{Kind: kind, Name: name, Node: "cpv0cwypxp44qw0p", Inc: 1, Seq: 1, At: api.TimeOf(time.Unix(1, 0))}
	if err := d.SetValue(value); err != nil {
		return err
	}
	if err := d.Check(); err != nil {
		return err
	}
	b.puts++
	b.docs[name] = value.(api.Condition)
	return nil
}

func (b *board) Delete(_ api.Kind, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return errors.New("the disk is full")
	}
	delete(b.docs, name)
	return nil
}

// names lists what a reader sees.
func (b *board) names() []string {
	out := []string{}
	for n := range b.docs {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// rig is a health with a board and a clock moved by hand.
func rig() (*Health, *board, *time.Time) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b := &board{docs: map[string]api.Condition{}}
	return New(b, func() time.Time { return now }, slog.New(slog.DiscardHandler)), b, &now
}

// logging has a health write to a log of the test's own.
func logging(h *Health, log *slog.Logger) *Health {
	h.log = log
	return h
}

func TestRaiseAndClear(t *testing.T) {
	is := is.New(t)
	h, b, now := rig()
	began := api.TimeOf(*now)
	is.NoErr(h.raise(api.ReasonConfigInvalid, "", "line 3: port is 70000."))
	is.Equal(b.docs["config_invalid"].Text, "The configuration file has an error; the settings from before stay in force: line 3: port is 70000.")
	is.Equal(b.docs["config_invalid"].Since, began)

	*now = now.Add(time.Minute)
	is.NoErr(h.raise(api.ReasonConfigInvalid, "", "line 3: port is 70000."))
	is.Equal(b.puts, 1) // nothing new is not published
	is.NoErr(h.raise(api.ReasonConfigInvalid, "", "line 4: \x1b[2Jbad\nname"))
	is.Equal(b.puts, 2)
	is.Equal(b.docs["config_invalid"].Since, began) // it holds since then
	is.True(strings.HasSuffix(b.docs["config_invalid"].Text, ": line 4: [2Jbad name."))

	is.NoErr(h.clear(api.ReasonConfigInvalid, ""))
	is.NoErr(h.clear(api.ReasonConfigInvalid, ""))
	is.NoErr(h.clear("never_registered", ""))
	is.Equal(b.names(), []string{})
	is.Equal(len(h.Shown()), 0)

	is.NoErr(h.raise(api.ReasonConfigInvalid, "", ""))
	is.Equal(b.docs["config_invalid"].Since, api.TimeOf(*now)) // a new one, from now
}

func TestWhatExplainsAnotherHidesIt(t *testing.T) {
	is := is.New(t)
	h, b, now := rig()
	began := api.TimeOf(*now)
	is.NoErr(h.raise(api.ReasonStateReadOnly, "", ""))
	is.Equal(b.names(), []string{"state_read_only"})
	*now = now.Add(time.Hour)
	is.NoErr(h.raise(api.ReasonDiskFull, "other", "")) // another subject explains nothing
	is.Equal(b.names(), []string{"disk_full/other", "state_read_only"})
	is.NoErr(h.raise(api.ReasonDiskFull, "", ""))
	is.Equal(b.names(), []string{"disk_full", "disk_full/other"})
	is.NoErr(h.raise(api.ReasonStateReadOnly, "", "still")) // it goes on holding, unseen
	is.Equal(len(h.Shown()), 2)
	is.NoErr(h.clear(api.ReasonDiskFull, ""))
	is.Equal(b.names(), []string{"disk_full/other", "state_read_only"})
	is.Equal(b.docs["state_read_only"].Since, began) // since it began, not since it is seen
	is.NoErr(h.raise(api.ReasonDiskFull, "", ""))
	is.NoErr(h.clear(api.ReasonDiskFull, ""))
	is.Equal(b.names(), []string{"disk_full/other", "state_read_only"}) // nothing new was said of it

	is.NoErr(h.raise(api.ReasonDiskFull, "", ""))
	is.NoErr(h.clear(api.ReasonStateReadOnly, "")) // ends while it is hidden
	is.NoErr(h.clear(api.ReasonDiskFull, ""))
	is.Equal(b.names(), []string{"disk_full/other"})
}

func TestWhatCannotBePublishedIsTriedAgain(t *testing.T) {
	is := is.New(t)
	h, b, _ := rig()
	b.fails = 1
	is.True(h.raise(api.ReasonDiskFull, "", "") != nil)
	is.Equal(b.names(), []string{})
	is.NoErr(h.raise(api.ReasonAPIPortTaken, "", "")) // whatever comes next brings it along
	is.Equal(b.names(), []string{"api_port_taken", "disk_full"})
	b.fails = 1
	is.True(h.clear(api.ReasonDiskFull, "") != nil)
	is.NoErr(h.clear(api.ReasonDiskFull, ""))
	is.Equal(b.names(), []string{"api_port_taken"})
}

func TestRefusals(t *testing.T) {
	is := is.New(t)
	h, b, _ := rig()
	is.True(h.raise("never_registered", "", "") != nil)
	is.True(h.raise(api.ReasonDiskFull, "a name with spaces", "") != nil)
	is.True(h.raise(api.ReasonDiskFull, "\u202e", "") != nil)
	is.Equal(b.names(), []string{})
	is.NoErr(h.clear(api.ReasonDiskFull, "a name with spaces"))
}

func TestShownInOrder(t *testing.T) {
	is := is.New(t)
	h, _, now := rig()
	for _, c := range []api.Reason{api.ReasonClockStepped, api.ReasonBLASSlow, api.ReasonDiskFull, api.ReasonNetworkIsolatesClients, api.ReasonStateReadOnly} {
		*now = now.Add(time.Second)
		is.NoErr(h.raise(c, "", ""))
	}
	var got []api.Reason
	for _, c := range h.Shown() {
		got = append(got, c.Code)
	}
	is.Equal(got, []api.Reason{api.ReasonDiskFull, api.ReasonBLASSlow, api.ReasonNetworkIsolatesClients, api.ReasonClockStepped})
}

func TestManyAtOnce(t *testing.T) {
	h, b, _ := rig()
	var all sync.WaitGroup
	for _, c := range Conditions() {
		all.Go(func() {
			for range 20 {
				_ = h.raise(c.Code, "", "x")
				_ = h.clear(c.Code, "")
				_ = h.Shown()
			}
		})
	}
	all.Wait()
	is := is.New(t)
	is.Equal(b.names(), []string{}) // all were cleared, and none came back
}

func FuzzDetail(f *testing.F) {
	f.Add("line 3: \x1b[31m\u202eport\r\n...")
	f.Fuzz(func(t *testing.T, detail string) {
		text := withDetail("It is so.", detail)
		if !utf8.ValidString(text) || strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Fatalf("%q", text)
		}
		if !strings.HasPrefix(text, "It is so") || !strings.HasSuffix(text, ".") || utf8.RuneCountInString(text) > maxDetail+20 {
			t.Fatalf("%q", text)
		}
	})
}

package nativetest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim/scenario"
)

// alone is a cluster of one Mac and its twin, for scripts within tests.
func alone(name string) (scenario.Scenario, error) {
	if name != "alone" {
		return scenario.Scenario{}, errors.New("no such cluster")
	}
	mac := scenario.Mac{
		Name: "A", Identity: native.Identity{Name: "Ada"},
		Interfaces: []scenario.Interface{{Name: "en0", Type: native.InterfaceEthernet, LinkUp: true}},
		Bridges:    []scenario.Bridge{{Name: "bridge0", Members: []string{}}},
	}
	twin := mac
	twin.Name = "B"
	return scenario.Scenario{Name: "alone", Macs: []scenario.Mac{mac, twin}}, nil
}

func parse(t *testing.T, steps string) nativetest.Script {
	t.Helper()
	s, err := nativetest.ParseScript("own.script", []byte("cluster alone\nneeds network\n"+steps), alone)
	is.New(t).NoErr(err)
	return s
}

// TestShippedScripts holds that each says what it is about, and that no need is
// asked of a backend by nobody.
func TestShippedScripts(t *testing.T) {
	is := is.New(t)
	scripts, err := nativetest.Scripts()
	is.NoErr(err)
	unasked := nativetest.AllNeeds()
	for _, s := range scripts {
		is.True(s.Title != "") // its first line says what it is about
		unasked = nativetest.Unmet(unasked, s.Needs...)
	}
	is.Equal(len(unasked), 0)
}

// TestScriptsThatHold and the next test are one another's proof.
func TestScriptsThatHold(t *testing.T) {
	for name, steps := range map[string]string{
		"a text with spaces": "set A.name Ada  Lovelace\nhint A identity\nexpect A identity name == \"Ada  Lovelace\"",
		"a boolean":          "set A.en0.link down\nhint A network\nexpect A network interfaces[name=en0].link == false",
		"a number":           "expect A network interfaces[name=en0].mtu_bytes >= 1500\nexpect A network interfaces[0].mtu_bytes < 1501",
		"an element":         "set A.en0.address 10.1.2.3/24\npresent A network interfaces[name=en0].addresses[address=10.1.2.3/24].origin",
		"membership":         "set A.en0.bridge bridge0\nexpect A network bridges[0].kernel_members contains \"en0\"\nexpect B network bridges[0].kernel_members lacks \"en0\"",
		"a count":            "count A network interfaces 1",
		"gone":               "set A.en0.present no\ngone A network interfaces[name=en0]\ncount A network interfaces 0",
		"absent, explained":  "absent A memory used_bytes reason not_yet_read",
		"an absent area":     "absent A rdma reason not_supported_by_hardware",
		"absent, optional":   "absent A network interfaces[0].receptacle",
		"a join":             "same A identity name B identity name\nset A.name Grace\ndiffer A identity name B identity name",
		"silence":            "set A.name Grace\nnohint A rdma memory\nset A.en0.link down\nhint A network",
		"silence of others":  "set A.name Grace\nnohint B identity\nset B.en0.link down\nhint B network",
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, steps)
			is.New(t).NoErr(s.Play(t.Context(), newStage(s.Cluster), time.Minute))
		})
	}
}

// TestScriptsThatFail holds that a wrong expectation is found, at its line. The
// machines in memory announce a change before Do returns, so the patience only
// says how long the failure takes.
func TestScriptsThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		steps string
		line  string
		want  string
	}{
		"a wrong text":        {"set A.name Grace\nexpect A identity name == \"Ada\"", ":4:", `is "Grace"`},
		"a wrong boolean":     {"expect A network interfaces[name=en0].link == false", ":3:", "is true"},
		"a wrong number":      {"expect A network interfaces[name=en0].mtu_bytes > 1500", ":3:", "is 1500"},
		"not a member":        {"expect A network bridges[0].kernel_members contains \"en0\"", ":3:", "is []"},
		"a member":            {"set A.en0.bridge bridge0\nexpect A network bridges[0].kernel_members lacks \"en0\"", ":4:", `is ["en0"]`},
		"a wrong count":       {"count A network interfaces 2", ":3:", "has 1 elements"},
		"no such element":     {"present A network interfaces[name=en9]", ":3:", "0 elements are interfaces[name=en9]"},
		"a reader of nothing": {"expect A memory used_bytes > 0", ":3:", "used_bytes is absent: not_yet_read"},
		"not gone":            {"gone A network interfaces[name=en0]", ":3:", "is there"},
		"gone with its list":  {"gone A thunderbolt ports[receptacle=1]", ":3:", "thunderbolt is absent"},
		"not absent":          {"absent A memory total_bytes reason not_yet_read", ":3:", "is there"},
		"another reason":      {"absent A memory used_bytes reason read_failed", ":3:", "absent: not_yet_read"},
		"not the same":        {"set B.name Grace\nsame A identity name B identity name", ":4:", `is "Ada"`},
		"not different":       {"differ A identity name B identity name", ":3:", `is "Ada"`},
		"no hint":             {"set A.name Grace\nhint A network", ":4:", "no hint of network; heard since the change: A identity"},
		"a hint of another":   {"set B.en0.link down\nhint A network", ":4:", "heard since the change: B network"},
		"a hint too early":    {"set A.en0.link down\nset A.name Grace\nhint A network", ":5:", "no hint of network"},
		"not silent":          {"set A.name Grace\nnohint A identity\nset A.en0.link down\nhint A network", ":6:", "line 4 wants no hint of identity"},
		"no such notice":      {"set A.name Grace\nnotice A will_sleep", ":4:", "no such notice"},
		"an impossible op":    {"sleep A", ":3:", "cannot sleep"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where looking takes no time
				is := is.New(t)
				s := parse(t, tt.steps+"\npresent A identity name")
				err := s.Play(t.Context(), newStage(s.Cluster), 10*time.Millisecond)
				is.True(err != nil) // the script is wrong
				is.True(strings.HasPrefix(err.Error(), "own.script"+tt.line))
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v: does not say %q", err, tt.want)
				}
			})
		})
	}
}

// TestDishonestFacts holds that facts that break the contract fail a script
// that is otherwise right.
func TestDishonestFacts(t *testing.T) {
	is := is.New(t)
	s := parse(t, "present A memory total_bytes")
	d := newStage(s.Cluster)
	d["A"].Change(func(s *native.Snapshot) { delete(s.Memory.Unknown, "used_bytes") })
	err := s.Play(t.Context(), d, time.Hour) // it fails at once: waiting mends no dishonesty
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "memory.used_bytes: absent without a reason"))
}

// TestLateFacts holds that a fact is waited for, and read again at each hint.
func TestLateFacts(t *testing.T) {
	is := is.New(t)
	s := parse(t, "expect A identity name == \"Grace\"")
	d := newStage(s.Cluster)
	go func() {
		for _, name := range []string{"G", "Gr", "Grace"} {
			d["A"].Change(func(s *native.Snapshot) { s.Identity.Name = name }, native.AreaIdentity)
		}
	}()
	is.NoErr(s.Play(t.Context(), d, time.Minute))
}

// badScripts are scripts that do not parse, with the error of each.
var badScripts = []struct{ text, want string }{
	{"", "own.script:0: a script that expects nothing"},
	{"hint A network", "own.script:1: a script begins with its cluster and its needs"},
	{"cluster none", "own.script:1: no such cluster"},
	{"cluster alone\ncluster alone", "own.script:2: want one cluster, once"},
	{"cluster alone\nneeds telepathy", `own.script:2: unknown need "telepathy"`},
	{"cluster alone\nneeds network network", "own.script:2: need network is named twice"},
	{"cluster alone\nneeds", "own.script:2: want the needs"},
	{"cluster alone\nneeds network\nset A.name X", "own.script:3: a script that expects nothing"},
	{"cluster alone\nneeds network\n\nfrobnicate A", "own.script:4: "},
	{"cluster alone\nneeds network\nset C.name X", `own.script:3: there is no Mac or network "C"`},
	{"cluster alone\nneeds network\nhint A network", "own.script:3: hint before any change"},
	{"cluster alone\nneeds network\nset A.name X\nhint A colour", "own.script:4: unknown area"},
	{"cluster alone\nneeds network\nset A.name X\nhint C network", `own.script:4: no Mac "C"`},
	{"cluster alone\nneeds network\nset A.name X\nhint A", "own.script:4: want: hint MAC and one AREA or more"},
	{"cluster alone\nneeds network\nset A.name X\nnotice A lunch", "own.script:4: want: notice"},
	{"cluster alone\nneeds network\nset A.name X\nnohint A memory", "own.script:4: a nohint without"},
	{"cluster alone\nneeds network\nset A.name X\nnohint A memory\ncount A network bridges 1", "own.script:5: a nohint is judged"},
	{"cluster alone\nneeds network\nset A.name X\nnohint A memory\nset A.name Y\nhint A memory", "own.script:6: a nohint is judged"},
	{"cluster alone\nneeds network\nexpect A identity nme == \"X\"", `own.script:3: path "nme": identity has no nme`},
	{"cluster alone\nneeds network\nexpect A identity name.x == \"X\"", "name: nothing lies below it"},
	{"cluster alone\nneeds network\nexpect A identity name == 5", "is not a text"},
	{"cluster alone\nneeds network\nexpect A identity name == Grace", "is not JSON"},
	{"cluster alone\nneeds network\nexpect A identity name < \"X\"", "< compares no text"},
	{"cluster alone\nneeds network\nexpect A identity name ~ \"X\"", `no operator "~"`},
	{"cluster alone\nneeds network\nexpect A identity name ==", "want: expect"},
	{"cluster alone\nneeds network\nexpect A network interfaces == 1", "== compares no list"},
	{"cluster alone\nneeds network\npresent A identity name[0]", "name is not a list"},
	{"cluster alone\nneeds network\npresent A network interfaces[colour=red]", "an element of interfaces has no colour"},
	{"cluster alone\nneeds network\npresent A network interfaces[addresses=x]", "by which no element is named"},
	{"cluster alone\nneeds network\npresent A network interfaces[-1]", "is not a place in a list"},
	{"cluster alone\nneeds network\npresent A network interfaces[01]", "is not a place in a list"},
	{"cluster alone\nneeds network\npresent A network interfaces[name=en0", "want NAME["},
	{"cluster alone\nneeds network\npresent A network interfaces..link", "is not the name of a fact"},
	{"cluster alone\nneeds network\npresent A network", "want: present MAC AREA PATH"},
	{"cluster alone\nneeds network\ngone A network interfaces", "gone wants an element"},
	{"cluster alone\nneeds network\ncount A identity name 1", "is not a list"},
	{"cluster alone\nneeds network\ncount A network interfaces -1", "invalid syntax"},
	{"cluster alone\nneeds network\nabsent A memory used_bytes", "its absence needs a reason: true"},
	{"cluster alone\nneeds network\nabsent A network interfaces[0].receptacle reason no_os", "its absence needs a reason: false"},
	{"cluster alone\nneeds network\nabsent A network interfaces[0] reason no_os", "is gone, not absent"},
	{"cluster alone\nneeds network\nabsent A memory used_bytes reason Because", "is not the key of a reason"},
	{"cluster alone\nneeds network\nsame A identity name B network bridges", "is a text, B network bridges a list"},
	{"cluster alone\nneeds network\nsame A identity name", "want: same"},
}

func TestBadScripts(t *testing.T) {
	for _, tt := range badScripts {
		_, err := nativetest.ParseScript("own.script", []byte(tt.text), alone)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	for _, tt := range badScripts {
		f.Add([]byte(tt.text))
	}
	files, err := filepath.Glob("testdata/conform/*.script")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(strings.Replace(string(text), "cluster pair", "cluster alone", 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := nativetest.ParseScript("own.script", text, alone)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "own.script:") {
				t.Errorf("an error without its file: %v", err)
			}
			return
		}
		// What parses can be played: it holds or it fails, and neither panics.
		_ = s.Play(t.Context(), newStage(s.Cluster), 0)
	})
}

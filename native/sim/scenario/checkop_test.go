package scenario

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestCheckOp(t *testing.T) {
	s, err := Parse("desk.toml", []byte(cluster))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"plug a.tb2 b.tb2":              "",
		"plug a.tb2 b.tb2 40G":          "",
		"plug a.tb2 b.tb2 80G":          "impossible between tb4 and tb5",
		"plug a.tb3 b.tb2":              "mac a has no port 3; it has [tb1 tb2]",
		"plug a.tb1 dock.up":            "",
		"plug a.tb1 dock.7":             "hub dock has 1 downstream port(s)",
		"unplug c.tb1":                  `there is no Mac or hub "c"`,
		"retrain a.tb1 120/40G":         "",
		"retrain a.tb2 80G":             "impossible between tb4 and tb4",
		"retrain a.tb1 60G":             "they negotiate one of 10 Gb/s, 20 Gb/s, 40 Gb/s, 80 Gb/s, 120/40 Gb/s, 40/120 Gb/s",
		"sleep dock":                    `there is no Mac "dock"`,
		"restart b":                     "",
		"set a.rdma on":                 "",
		"set b.rdma on":                 "no RDMA driver",
		"set b.rdma off":                "",
		"set a.memory.used 65 GB":       "more than the memory",
		"set a.memory.used 64 GB":       "",
		"set b.memory.used 1 TB":        "", // its memory is not told
		"set a.battery 0.5":             "a has no battery",
		"set a.power battery":           "a has no battery",
		"set a.power ups":               "",
		"set b.en3.bridge bridge0":      "",
		"set b.en3.bridge bridge1":      `mac b has no bridge "bridge1"`,
		"set b.en3.bridge none":         "",
		"set b.bridge0.link down":       "",
		"set b.bridge0.bridge none":     `has no interface "bridge0"`,
		"set b.en33.link down":          `has no interface "en33" (did you mean "en3"?)`,
		"set a.link down":               "is for networks",
		"set lan.link down":             "",
		"set lan.rdma on":               "lan is a network; it has link and isolated",
		"set lam.link down":             `there is no Mac or network "lam" (did you mean "lan"?)`,
		"set a.thunderbolt.told no":     "",
		"set a.en0.address 10.0.0.9/24": "",
		"set a.en0.address none":        "",
	} {
		t.Run(line, func(t *testing.T) {
			op, err := ParseOp(line)
			if err != nil {
				t.Fatal(err)
			}
			switch err := s.CheckOp(op); {
			case want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("error %v does not say %q", err, want)
			}
		})
	}
	if s.CheckOp(Op{}) == nil || s.CheckOp(Op{Verb: VerbPlug}) == nil || s.CheckOp(Op{Verb: VerbSet, Owner: "a", Key: "x"}) == nil {
		t.Error("an op that no line can be is taken")
	}
}

func TestCheckOfWhatWasNotRead(t *testing.T) {
	is := is.New(t)
	s, err := Load("two-studios")
	is.NoErr(err)
	s.Cables = append(s.Cables, s.Cables[0])
	s.Macs[1].Name = "studio-1"
	err = s.Check()
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "two-studios: mac studio-1: the name is taken by another mac; choose"))
	is.True(strings.Contains(err.Error(), "two-studios: cable 2: port studio-1.tb4 is used by cable 1"))
	is.True(Scenario{}.Check() != nil)
}

func TestLoad(t *testing.T) {
	is := is.New(t)
	_, err := Load("two-studio")
	is.True(strings.Contains(err.Error(), `unknown scenario "two-studio" (did you mean "two-studios"?)`))
	_, err = Load(filepath.Join(t.TempDir(), "none.toml"))
	is.True(errors.Is(err, fs.ErrNotExist))

	path := filepath.Join(t.TempDir(), "my-desk.toml")
	is.NoErr(os.WriteFile(path, []byte(cluster), 0o600))
	s, err := Load(path)
	is.NoErr(err)
	is.Equal(s.Name, "my-desk")
	is.NoErr(os.WriteFile(path, []byte("\n[[mac]]\n"), 0o600))
	_, err = Load(path)
	is.True(strings.HasPrefix(err.Error(), path+":2: mac 1: name is missing"))
	is.NoErr(os.WriteFile(path, []byte(strings.Repeat("# long\n", 40_000)), 0o600))
	_, err = Load(path)
	is.True(strings.Contains(err.Error(), "a scenario has at most"))
}

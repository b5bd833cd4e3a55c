package scenario

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// cluster is a sound file of two Macs; the tests below put one slip after it, so
// that their lines begin at 29.
const cluster = `title = "Desk"

[[network]]
name = "lan"

[[hub]]
name = "dock"
capability = "tb4"

[[mac]]
name = "a"
memory = "64 GB"
os = "26.2/25C56"
port = [{ receptacle = 1, capability = "tb5", interface = "en2" }, { receptacle = 2, capability = "tb4" }]
interface = [{ name = "en0", type = "ethernet", network = "lan", addresses = ["10.0.0.1/24"] },
  { name = "en2", addresses = ["169.254.1.1/30 manual"] }]

[[mac]]
name = "b"
like = "mac-mini-m4-pro"
os = "26.1"
interface = [{ name = "en0", network = "lan", addresses = ["10.0.0.2/24"] }]
bridge = [{ name = "bridge0", members = ["en3"] }]

[[cable]]
ends = ["a.tb1", "b.tb1"]
speed = "80G"

`

func TestGPUMemory(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string]native.GPUMemory{
		"chip = \"Apple M4\"": native.GPUMemoryUnified, "chip = \"Xeon\"": "", "gpu_memory = \"none\"": native.GPUMemoryNone,
		"gpu_memory = \"dedicated\"\ngpu_working_set = \"80 GB\"": native.GPUMemoryDedicated, // beside the 64 GB of RAM
	} {
		s, err := Parse("desk.toml", []byte(strings.Replace(cluster, "os = \"26.2/25C56\"", "os = \"26.2/25C56\"\n"+line, 1)))
		is.NoErr(err)
		a, _ := s.Mac("a")
		is.Equal(a.Identity.GPUMemory, want)
	}
	for _, line := range []string{"gpu_memory = \"unifed\"", "gpu_working_set = \"80 GB\""} {
		_, err := Parse("desk.toml", []byte(strings.Replace(cluster, "os = \"26.2/25C56\"", "os = \"26.2/25C56\"\n"+line, 1)))
		is.True(err != nil)
	}
}

func TestParseTellsWhatIsThere(t *testing.T) {
	is := is.New(t)
	s, err := Parse("some/where/desk.toml", []byte(cluster+"[[at]]\nafter = \"1m5s\"\ndo = \"retrain a.tb1 40G\"\n"))
	is.NoErr(err)
	is.Equal(s.Name, "desk")
	is.Equal(s.Title, "Desk")
	a, _ := s.Mac("a")
	is.Equal(a.MemoryBytes, int64(64<<30))
	is.Equal(a.Identity.OSBuild, "25C56")
	is.True(a.OSCapable) // since 26.2
	port, _ := a.Port(1)
	is.Equal(len(port.DomainUUID), 36)
	en2, _ := a.Interface("en2")
	is.Equal(en2.Type, native.InterfaceThunderbolt) // its port says so
	is.Equal(en2.Addresses[0].Origin, native.OriginManual)
	b, _ := s.Mac("b")
	is.Equal(b.Identity.Chip, "Apple M4 Pro")
	is.True(!b.OSCapable)
	en0, _ := b.Interface("en0")
	is.Equal(en0.Network, "lan")                  // the file's
	is.Equal(en0.DisplayName, "Ethernet")         // the model's
	is.Equal(len(b.Ports), 3)                     // the model's
	is.Equal(len(b.Interfaces), 5)                // Ethernet, Wi-Fi, three ports
	is.Equal(s.Cables[0].Speed, symmetric(80))    // read
	is.Equal(s.TimeLine[0].After, 65*time.Second) // read
	is.Equal(s.TimeLine[0].Op.Verb, VerbRetrain)  // read
	is.True(a.Identity.HardwareID != b.Identity.HardwareID)
	again, err := Parse("desk.toml", []byte(cluster))
	is.NoErr(err)
	is.Equal(again.Macs[0], a) // nothing is made up anew
}

func TestParseNamesEverySlip(t *testing.T) {
	for _, test := range []struct{ slip, want string }{
		{"[[cable]]\nends = [\"a.tb1\", \"b.tb2\"]", "desk.toml:30: cable 2: port a.tb1 is used by cable 1 (line 26)"},
		{"[[cable]]\nends = [\"a.tb2\", \"b.tb9\"]", "desk.toml:30: cable 2: b.tb9: mac b has no port 9; it has [tb1 tb2 tb3]"},
		{"[[cable]]\nends = [\"a.tb2\", \"dok.up\"]", `desk.toml:30: cable 2: dok.up: there is no Mac or hub "dok" (did you mean "dock"?)`},
		{"[[cable]]\nends = [\"a.tb2\", \"dock.tb1\"]", "dock is a hub; write its ports like dock.up and dock.1"},
		{"[[cable]]\nends = [\"a.up\", \"dock.1\"]", "a is a Mac; write its ports like a.tb1"},
		{"[[cable]]\nends = [\"a.tb2\", \"dock.2\"]", "hub dock has 1 downstream port(s)"},
		{"[[cable]]\nends = [\"a.tb2\", \"a.tb2\"]", "desk.toml:30: cable 2: both ends are a.tb2"},
		{"[[cable]]\nends = [\"a.tb2\"]", "desk.toml:30: cable 2: 1 ends; a cable has two"},
		{"[[cable]]", "desk.toml:29: cable 2: 0 ends"},
		{"[[cable]]\nends = \"a.tb2 b.tb2\"", "desk.toml:30: cable 2: ends = \"a.tb2 b.tb2\" is not a list of texts"},
		{"[[cable]]\nends = [\"a.tb2\", \"b.tb2\"]\nspeed = \"80G\"", "desk.toml:31: cable 2: speed 80 Gb/s is impossible between tb4 and tb5"},
		{"[[cable]]\nends = [\"a.tb2\", \"b.tb2\"]\nspeed = \"120/40G\"", "desk.toml:31: cable 2: speed 120/40 Gb/s is impossible between tb4 and tb5"},
		{"[[cable]]\nends = [\"a.tb2\", \"b.tb2\"]\nspeed = \"fast\"", `desk.toml:31: cable 2: speed: link speed "fast": it has no unit such as Gb/s`},
		{"[[cable]]\nends = [\"a.tb2\", \"dock.1\"]", "cable 2: hub dock belongs to no Mac: nothing is plugged into dock.up"},
		{"[[cable]]\nends = [\"dock.up\", \"dock.1\"]", "cable 2: the hubs dock, dock form a loop"},
		{"[[hub]]\nname = \"h2\"\ncapability = \"tb4\"\n[[cable]]\nends = [\"dock.up\", \"h2.up\"]", "desk.toml:33: cable 2: dock.up and h2.up are both upstream"},
		{"[[hub]]\nname = \"h2\"\ncapability = \"tb4\"\ndownstream = 2\n[[hub]]\nname = \"h3\"\ncapability = \"tb4\"\n[[cable]]\nends = [\"a.tb2\", \"h2.up\"]\n[[cable]]\nends = [\"h2.1\", \"dock.up\"]\n[[cable]]\nends = [\"h2.2\", \"dock.1\"]", "desk.toml:41: cable 4: h2.2 and dock.1 both hang below a.tb2, so the hubs form a loop"},
		{"[[mac]]\nname = \"A\"", "desk.toml:30: mac A: the name is taken by another mac (line 11)"},
		{"[[network]]\nname = \"dock\"", "desk.toml:30: network dock: the name is taken by another hub (line 7)"},
		{"[[network]]\nname = \"tb2\"", "desk.toml:30: network tb2: the name looks like a port"},
		{"[[mac]]\nname = \"c d\"", `desk.toml:30: mac 3: name "c d" may hold letters`},
		{"[[mac]]", `desk.toml:29: mac 3: name is missing; write for example name = "studio-1"`},
		{"[[mac]]\nname = \"c\"\nlike = \"mac-mini-m4-por\"", `desk.toml:31: mac c: like = "mac-mini-m4-por" is not a known Mac (did you mean "mac-mini-m4-pro"?)`},
		{"[[mac]]\nname = \"c\"\nmemery = \"1 GB\"", `desk.toml:31: mac c: unknown key "memery" (did you mean "memory"?)`},
		{"[[mac]]\nname = \"c\"\nmemory = 64", "desk.toml:31: mac c: memory = 64 is not a text in quotes"},
		{"[[mac]]\nname = \"c\"\nmemory = \"64\"", `desk.toml:31: mac c: memory: size "64": write a number and KB, MB, GB or TB`},
		{"[[mac]]\nname = \"c\"\nmemory = \"1 GB\"\nused = \"2 GB\"", "desk.toml:32: mac c: used is more than the memory"},
		{"[[mac]]\nname = \"c\"\nos = \"26.1\"\nrdma = \"on\"", `desk.toml:32: mac c: rdma = "on": the system of c (26.1) has no RDMA driver`},
		{"[[mac]]\nname = \"c\"\nrdma_limits = { queue_pairs = 0, memory_regions = 100, protection_domains = 11 }", "desk.toml:31: mac c: rdma_limits: completion_queues is missing; a device has all four"},
		{"[[mac]]\nname = \"c\"\nrdma_limits = 10", "desk.toml:31: mac c: rdma_limits = 10 is not a table such as { queue_pairs = 10"},
		{"[[mac]]\nname = \"c\"\nrdma = \"yes\"", `desk.toml:31: mac c: rdma = "yes" is not one of ["off" "on" "on_after_restart"]`},
		{"[[mac]]\nname = \"c\"\npower = \"battery\"", "desk.toml:31: mac c: power = \"battery\": c has no battery"},
		{"[[mac]]\nname = \"c\"\nwatts = -1", "desk.toml:31: mac c: watts = -1 is not a number from 0 to 1000"},
		{"[[mac]]\nname = \"c\"\nbattery = 2.0", "desk.toml:31: mac c: battery = 2 is not a charge"},
		{"[[mac]]\nname = \"c\"\ncpu_cores = -1", "desk.toml:31: mac c: cpu_cores = -1 is outside 0 to 10000"},
		{"[[mac]]\nname = \"c\"\n[[mac.port]]\ncapability = \"tb5\"", "desk.toml:31: mac c: port 1: receptacle is missing"},
		{"[[mac]]\nname = \"c\"\n[[mac.port]]\nreceptacle = 1", `desk.toml:31: mac c: port 1: capability is missing; it is one of ["tb3" "tb4" "tb5"]`},
		{"[[mac]]\nname = \"c\"\nport = [{receptacle = 1, capability = \"tb5\"},\n{receptacle = 1, capability = \"tb5\"}]", "desk.toml:32: mac c: port 2: receptacle 1 is described twice"},
		{"[[mac]]\nname = \"c\"\nport = 5", "desk.toml:31: mac c: port = 5 is not a list of tables"},
		{"[[mac]]\nname = \"c\"\n[[mac.interface]]\nname = \"en0\"\ntype = \"wifi\"\nnetwork = \"lam\"", `desk.toml:31: mac c: interface en0 is on network "lam", which does not exist (did you mean "lan"?)`},
		{"[[mac]]\nname = \"c\"\n[[mac.interface]]\nname = \"en0\"", "desk.toml:31: mac c: interface en0: type is missing"},
		{"[[mac]]\nname = \"c\"\n[[mac.interface]]\nname = \"en0\"\ntype = \"thunderbolt\"", "mac c: interface en0 is thunderbolt and belongs to no port"},
		{"[[mac]]\nname = \"c\"\n[[mac.interface]]\nname = \"en0\"\ntype = \"wifi\"\naddresses = [\"1.2.3.4/24\",\n\"1.2.3\"]", "desk.toml:35: mac c: interface en0: address \"1.2.3\""},
		{"[[mac]]\nname = \"c\"\n[[mac.interface]]\nname = \"en0\"\ntype = \"wifi\"\nnetwork = \"lan\"\naddresses = [\"10.0.0.2/24\"]", "desk.toml:31: c en0: address 10.0.0.2 is also that of b en0 on the same network"},
		{"[[mac]]\nname = \"c\"\n[[mac.port]]\nreceptacle = 1\ncapability = \"tb5\"\ndomain_uuid = \"x\"\n[[mac.port]]\nreceptacle = 2\ncapability = \"tb5\"\ndomain_uuid = \"x\"", `desk.toml:35: c.tb2: domain_uuid "x" is also that of c.tb1`},
		{"[[mac]]\nname = \"c\"\n[[mac.bridge]]\nname = \"bridge0\"\nmembers = [\"en9\"]", `mac c: bridge bridge0 has member "en9", which is not an interface of this Mac`},
		{"[[gpu]]\nmac = \"x\"", `desk.toml:30: gpu 1: there is no Mac "x"`},
		{"[[gpu]]\nmac = \"a\"\nfp16_tflops = \"many\"", `desk.toml:31: gpu 1: fp16_tflops = "many" is not a number above 0`},
		{"[[link]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"socket\"\nover = \"tb2\"", "desk.toml:33: link 1: no cable leads from a.tb2 to b"},
		{"[[link]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"rdma\"\nover = \"lan\"", "desk.toml:33: link 1: RDMA runs over Thunderbolt cables, not over network lan"},
		{"[[link]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"socket\"\nover = \"wan\"", `link 1: over = "wan" is neither a port such as tb1 nor a network (did you mean "lan"?)`},
		{"[[link]]\nfrom = \"a\"\ntransport = \"socket\"\nover = \"lan\"", "desk.toml:29: link 1: from and to belong together"},
		{"[[link]]\ntransport = \"socket\"\nover = \"tb1\"", `desk.toml:31: link 1: socket over "tb1" joins no two Macs; of every two it is a network's name or "cables"`},
		{"[[link]]\ntransport = \"rdma\"\nover = \"lan\"", `desk.toml:31: link 1: rdma over "lan" joins no two Macs`},
		{"[[link]]\ntransport = \"socket\"\nover = \"lan\"\n[[link]]\ntransport = \"socket\"\nover = \"lan\"", `desk.toml:34: link 2: socket over "lan" is described twice`},
		{"[[link]]\ntransport = \"socket\"\nover = \"cables\"", `socket over "cables" joins no two Macs`}, // the speed of theirs is stated
		{"[[at]]\nafter = \"5s\"\ndo = \"unplug b.tb2\"", "desk.toml:31: at 1: unplug b.tb2: no cable is in port b.tb2 by then"},
		{"[[at]]\nafter = \"5s\"\ndo = \"plug a.tb1 b.tb2\"", "at 1: plug a.tb1 b.tb2: port a.tb1 is in use by then: its cable goes to b.tb1"},
		{"[[at]]\nafter = \"5s\"\ndo = \"unplug a.tb1\"\n[[at]]\nafter = \"4s\"\ndo = \"plug a.tb2 b.tb1\"", "desk.toml:33: at 2: after = 4s is before the event above it (5s)"},
		{"[[at]]\nafter = \"5s\"\ndo = \"wake a\"", "at 1: wake a: a would be awake already"},
		{"[[at]]\nafter = \"5s\"\ndo = \"set a.en9.link up\"", `mac a has no interface "en9"`},
		{"[[at]]\nafter = \"5s\"\ndo = \"set b.rdma on\"", "the system of b (26.1) has no RDMA driver"},
		{"[[at]]\nafter = \"5 s\"\ndo = \"sleep a\"", "desk.toml:30: at 1: after: time: unknown unit"},
		{"[[at]]\nafter = \"5s\"", "desk.toml:29: at 1: do is missing"},
		{"[nonsense]\nx = 1", `desk.toml:29: unknown key "nonsense"`},
		{"x = ", "desk.toml:29: "},
	} {
		t.Run(test.want, func(t *testing.T) {
			_, err := Parse("desk.toml", []byte(cluster+test.slip+"\n"))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error does not say %q:\n%s", test.want, err)
			}
		})
	}
}

func TestParseTellsAllAtOnceAndInOrder(t *testing.T) {
	is := is.New(t)
	text := "[[mac]]\nname = \"a\"\nmemory = \"x\"\ncolour = 1\n[[cable]]\nends = [\"b.tb1\", \"c.tb1\"]\n"
	_, err := Parse("f.toml", []byte(text))
	is.True(err != nil)
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, line[:strings.Index(line, ": ")])
	}
	is.Equal(lines, []string{"f.toml:3", "f.toml:4", "f.toml:6", "f.toml:6"})

	_, err = Parse("f.toml", []byte(strings.Repeat("[[cable]]\n", 500)))
	var joined interface{ Unwrap() []error }
	is.True(errors.As(err, &joined))
	is.Equal(len(joined.Unwrap()), maxProblems+1)
	is.True(strings.HasSuffix(err.Error(), "more"))
}

func TestParseBoundsWhatItReads(t *testing.T) {
	is := is.New(t)
	_, err := Parse("f.toml", []byte(strings.Repeat("# long\n", 40_000)))
	is.True(err != nil)
	_, err = Parse("f.toml", []byte("a = "+strings.Repeat("[", 200_000)))
	is.True(err != nil)
	_, err = Parse("f.toml", []byte(strings.Repeat("[[mac]]\nname = \"x\"\n", 65)))
	is.True(strings.Contains(err.Error(), "f.toml:129: 65 Macs; a scenario has at most 64"))
	_, err = Parse("f.toml", []byte(strings.Repeat("[[hub]]\nname = \"x\"\ncapability = \"tb4\"\n", 65)))
	is.True(strings.Contains(err.Error(), "65 hubs; a scenario has at most 64"))
	_, err = Parse("f.toml", []byte(strings.Repeat("[[cable]]\n", 26_000)))
	is.True(strings.Contains(err.Error(), "f.toml: and "))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(cluster))
	for _, name := range []string{"hub-3", "mixed", "bad-cable"} {
		text, err := shippedFiles.ReadFile("shipped/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("fuzz.toml", text)
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatalf("read without error, and not sound: %v", err)
		}
		checkSound(t, s)
	})
}

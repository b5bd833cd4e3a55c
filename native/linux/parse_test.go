package linux

import (
	"math"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestParseShellVariables(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"A=b\nB='c d'\nC=\"e\"\n":              {"A": "b", "B": "c d", "C": "e"},
		"A=\n":                                 {"A": ""},
		"A=1\nA=2":                             {"A": "2"},
		"# comment\n\n=x\n1A=b\nA-B=c\nx":      {},
		`A="say \"hi\" \n \\ \$ \` + "`" + `"`: {"A": `say "hi" \n \ $ ` + "`"},
		`A='it'\''s'`:                          {"A": "it's"},
		`A='\"'`:                               {"A": `\"`},
		"A=\"open\n":                           {"A": "open"},
		"A=b\\":                                {"A": `b\`},
		"A=\xff":                               {"A": "\uFFFD"},
		"  A=b  \r\n":                          {"A": "b"},
	} {
		t.Run(text, func(t *testing.T) { is.New(t).Equal(parseShellVariables([]byte(text)), want) })
	}
}

func TestParseMeminfo(t *testing.T) {
	is := is.New(t)
	is.Equal(parseMeminfo([]byte("A: 1 kB\nB: 2\nC: x kB\nD: -1 kB\nE: 9007199254740991 kB\nF: 9007199254740992 kB\nG 1 kB\nH: 0 kB")),
		map[string]int64{"A": 1024, "E": math.MaxInt64 - 1023, "H": 0})
	is.Equal(parseCounters([]byte("a 1\nb -2\nc\nd 1 2\ne x\n")), map[string]int64{"a": 1})
}

func TestParseStat(t *testing.T) {
	for text, want := range map[string]cpuTimes{
		"cpu 1 2 3 4 5 6 7 8 9 10\nbtime 11\n": {busy: 1 + 2 + 3 + 6 + 7, total: 36, bootedAt: 11},
		"cpu 1 2 3 4\n":                        {busy: 6, total: 10},
		"cpu 1 2 3\n":                          {},
		"cpu0 1 2 3 4 5 6 7 8\n":               {},
		"cpu 1 2 x 4\n":                        {},
		"cpu 18446744073709551615 1 1 1\n":     {},
		"btime x\n":                            {},
	} {
		t.Run(text, func(t *testing.T) { is.New(t).Equal(parseStat([]byte(text)), want) })
	}
}

func TestParsePressure(t *testing.T) {
	is := is.New(t)
	p := parsePressure([]byte("some avg10=12.50 avg60=1.00\nfull avg10=0.00\n"))
	is.Equal(*p.some, 0.125)
	is.Equal(*p.full, 0.0)
	for _, text := range []string{"", "some avg60=1.00", "some avg10=x", "some avg10=-1", "some avg10=101", "some avg10=NaN", "few avg10=1", "some\n\n"} {
		p := parsePressure([]byte(text))
		is.Equal(p.some, nil)
		is.Equal(p.full, nil)
	}
}

func TestParseCPUList(t *testing.T) {
	is := is.New(t)
	cpus, err := parseCPUList("0-2,8,10-11\n")
	is.NoErr(err)
	is.Equal(cpus, []int{0, 1, 2, 8, 10, 11})
	cpus, err = parseCPUList("\n")
	is.NoErr(err)
	is.Equal(len(cpus), 0)
	for _, text := range []string{"x", "1-", "-1", "3-1", "0-65536", "99999999999999999999", "0-65535,0-65535"} {
		_, err := parseCPUList(text)
		is.True(err != nil)
	}
}

func TestParseCPUInfo(t *testing.T) {
	is := is.New(t)
	info := parseCPUInfo([]byte("model name\t: A  B \nmodel name\t: C\nCPU implementer : 0x41\nCPU part : 0xd0b\nCPU part : 0xd0b\nCPU part : ?\nCPU implementer : 0x61\nCPU part : 0x23\n"))
	is.Equal(info.model, "A B")
	is.Equal(info.parts, []armPart{{0x41, 0xd0b}, {0x61, 0x23}})
	is.Equal(info.parts[0].name(), "Cortex-A76")
	is.Equal(info.parts[1].name(), "implementer 0x61 part 0x23")
}

func TestIsOwnUUID(t *testing.T) {
	for uuid, want := range map[string]bool{
		"4C4C4544-0042-3510-8052-B4C04F4E3332": true,
		"03000200-0400-0500-0006-000700080009": false,
		"00000000-0000-0000-0000-000000000000": false,
		"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF": false,
		"Not Settable":                         false, "": false,
		"4C4C4544-0042-3510-8052-B4C04F4E333": false,
	} {
		t.Run(uuid, func(t *testing.T) { is.New(t).Equal(isOwnUUID(uuid), want) })
	}
}

func TestPressureLevels(t *testing.T) {
	ratio := func(some, full float64) stallRatios { return stallRatios{&some, &full} }
	now := time.Hour
	for name, c := range map[string]struct {
		ratios     stallRatios
		some, full time.Duration // when announced
		want       native.Pressure
	}{
		"calm":                        {ratio(0.149, 0.099), 0, 0, native.PressureNormal},
		"some wait":                   {ratio(0.15, 0), 0, 0, native.PressureWarning},
		"all wait":                    {ratio(0.15, 0.10), 0, 0, native.PressureCritical},
		"announced just now":          {ratio(0, 0), now, 0, native.PressureWarning},
		"announced for all":           {ratio(0, 0), now, now - stallHold + 1, native.PressureCritical},
		"announced long ago":          {ratio(0, 0), now - stallHold, now - stallHold, native.PressureNormal},
		"full is not told":            {stallRatios{some: new(0.5)}, 0, 0, native.PressureWarning},
		"nothing was ever announced.": {ratio(0, 0), 0, 0, native.PressureNormal},
	} {
		t.Run(name, func(t *testing.T) {
			s := stalls{hold: stallHold, some: c.some, full: c.full}
			is.New(t).Equal(s.level(c.ratios, now), c.want)
		})
	}
}

func TestPrimary(t *testing.T) {
	links := []link{{Index: 1, Name: "a"}, {Index: 2, Name: "b"}}
	for name, c := range map[string]struct {
		routes []route
		want   string
	}{
		"none":              {nil, ""},
		"the lowest metric": {[]route{{Index: 1, Metric: 600}, {Index: 2, Metric: 100}}, "b"},
		"the first of two":  {[]route{{Index: 2, Metric: 100}, {Index: 1, Metric: 100}}, "b"},
		"IPv4 before IPv6":  {[]route{{Index: 1, IPv6: true}, {Index: 2, Metric: 900}}, "b"},
		"IPv6 alone":        {[]route{{Index: 1, IPv6: true}}, "a"},
		"one that is gone":  {[]route{{Index: 9}, {Index: 1, Metric: 5}}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			is.New(t).Equal(primary(tables{Links: links, Defaults: c.routes}), c.want)
		})
	}
}

func TestInterfaceType(t *testing.T) {
	seen := device{present: true}
	for name, c := range map[string]struct {
		l    link
		d    device
		want native.InterfaceType
	}{
		"loopback":                      {link{Hardware: hardwareLoopback}, device{}, native.InterfaceLoopback},
		"tap":                           {link{Kind: "tun", Hardware: hardwareEther}, seen, native.InterfaceUnknown},
		"tun":                           {link{Kind: "tun", Hardware: 65534}, seen, native.InterfaceVPN},
		"IPsec":                         {link{Kind: "xfrm", Hardware: 65534}, seen, native.InterfaceVPN},
		"a tunnel that hides nothing":   {link{Kind: "gre", Hardware: 778}, seen, native.InterfaceUnknown},
		"wireguard":                     {link{Kind: "wireguard", Hardware: 65534}, seen, native.InterfaceVPN},
		"vxlan":                         {link{Kind: "vxlan", Hardware: hardwareEther}, seen, native.InterfaceUnknown},
		"bond":                          {link{Kind: "bond", Hardware: hardwareEther}, seen, native.InterfaceEthernet},
		"InfiniBand":                    {link{Hardware: 32}, seen, native.InterfaceUnknown},
		"card":                          {link{Hardware: hardwareEther}, seen, native.InterfaceEthernet},
		"radio":                         {link{Hardware: hardwareEther}, device{present: true, wireless: true}, native.InterfaceWiFi},
		"cable":                         {link{Hardware: hardwareEther}, device{present: true, driver: "thunderbolt-net"}, native.InterfaceThunderbolt},
		"card that sysfs does not show": {link{Hardware: hardwareEther}, device{}, native.InterfaceUnknown},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(interfaceType(c.l, c.d), c.want) })
	}
}

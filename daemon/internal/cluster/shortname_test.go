package cluster

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestShortName(t *testing.T) {
	node := testIdentity(1).Node
	for _, tt := range []struct{ computer, want string }{
		{"Mac Studio", "mac-studio"},
		{"Ada's Mac Studio (2)", "adas-mac-studio-2"},
		{"Zoë’s MacBook Pro", "zoes-macbook-pro"},
		{"Zoe\u0308 M", "zoe-m"},
		{"  --  Büro / Größe 5 --", "buro-grosse-5"},
		{"Œuvre Ægir Łódź Þór", "oeuvre-aegir-lodz-thor"},
		{"İstanbul", "istanbul"},
		{"会议室 Mac", "mac"},
		{"会议室", "mac-" + string(node)[:4]},
		{"", "mac-" + string(node)[:4]},
		{"\x00\xff\n<script>", "script"},
		{strings.Repeat("a", 62) + " b", strings.Repeat("a", 62)},
		{strings.Repeat("ab ", 40), strings.TrimRight(strings.Repeat("ab-", 21), "-")},
	} {
		t.Run(tt.computer, func(t *testing.T) {
			is := is.New(t)
			is.Equal(ShortName(tt.computer, node), tt.want)
		})
	}
}

func TestUniqueName(t *testing.T) {
	is := is.New(t)
	taken := map[string]bool{}
	isTaken := func(s string) bool { return taken[s] }
	for _, want := range []string{"mac", "mac-2", "mac-3"} {
		got := UniqueName("mac", isTaken)
		is.Equal(got, want)
		taken[got] = true
	}
	long := strings.Repeat("a", MaxShortName)
	taken[long] = true
	is.Equal(UniqueName(long, isTaken), long[:MaxShortName-2]+"-2")
}

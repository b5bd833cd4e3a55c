package deeplink

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func node(n byte) string { return api.NodeIDFromKey([]byte{n}).String() }

func link(t *testing.T, a, b byte) string {
	t.Helper()
	l, err := api.NewLinkID(api.LinkEnd{Node: api.NodeID(node(a)), PortNumber: 1}, api.LinkEnd{Node: api.NodeID(node(b)), PortNumber: 2})
	is.New(t).NoErr(err)
	return l.String()
}

func TestParse(t *testing.T) {
	one, two := link(t, 1, 2), link(t, 1, 3)
	for address, want := range map[string]string{
		"fulmen:rdma.enable?links=" + one + "&links=" + two:            `rdma.enable {"links":["` + one + `","` + two + `"]}`,
		"fulmen:rdma.enable?links=" + url.QueryEscape(one):             `rdma.enable {"links":["` + one + `"]}`,
		"FULMEN:rdma.disable?all_ready=true":                           `rdma.disable {"all_ready":true}`,
		"fulmen:rdma.undo?links=" + one + "&all_ready=false":           `rdma.undo {"links":["` + one + `"]}`,
		"fulmen:cluster.pair":                                          `cluster.pair {}`,
		"fulmen:cluster.answer?node=" + node(9):                        `cluster.answer {"node":"` + node(9) + `"}`,
		"fulmen:cluster.answer?state=later&node=" + node(9):            `cluster.answer {"node":"` + node(9) + `","state":"later"}`,
		"fulmen:cluster.remove?nodes=" + node(2) + "&nodes=" + node(3): `cluster.remove {"nodes":["` + node(2) + `","` + node(3) + `"]}`,
		"fulmen:cluster.set_sharing?jobs=mapped&only_on_power=false":   `cluster.set_sharing {"jobs":"mapped","only_on_power":false}`,
		"fulmen:daemon.start":                                          `daemon.start {}`,
		"fulmen:daemon.stop":                                           `daemon.stop {}`,
	} {
		t.Run(address, func(t *testing.T) {
			is := is.New(t)
			call, err := Parse(address)
			is.NoErr(err)
			params, err := json.Marshal(call.Params)
			is.NoErr(err)
			is.Equal(call.Method+" "+string(params), want)
			is.True(call.Admin)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	one := link(t, 1, 2)
	for _, address := range []string{
		"", "fulmen", "fulmen:", "https://rdma.enable?all_ready=true", "fulmen://rdma.enable?all_ready=true", "fulmen:/rdma.enable?all_ready=true",
		"fulmen:rdma.enable", "fulmen:rdma.enable?", "fulmen:rdma.enable?all_ready=false", "fulmen:rdma.enable?all_ready=yes",
		"fulmen:rdma.enable?all_ready=true&all_ready=true", "fulmen:rdma.enable?links=" + one + "&all_ready=true",
		"fulmen:rdma.enable?links=" + one + "&links=" + one, "fulmen:rdma.enable?links=", "fulmen:rdma.enable?links=studio-1:1",
		"fulmen:rdma.enable?links=" + strings.ToUpper(one), "fulmen:rdma.enable?links=" + one + "&dry_run=true",
		"fulmen:rdma.enable?links=" + one + "#x", "fulmen:rdma.enable?links=" + one + "#", "fulmen:rdma.enable?links=%zz", "fulmen:rdma.enable?links=" + one + ";x",
		"fulmen:rdma.enable?links=" + strings.Repeat(one+"&links=", MaxLength), "fulmen:RDMA.ENABLE?links=" + one, "fulmen:rdma.enable%20?links=" + one,
		"fulmen:cluster.pair?close=true", "fulmen:cluster.answer", "fulmen:cluster.answer?node=" + node(9) + "&code=4K7M9XQ2",
		"fulmen:cluster.answer?node=" + node(9) + "&state=proving", "fulmen:cluster.answer?node=" + node(9) + "&account=root",
		"fulmen:cluster.remove", "fulmen:cluster.remove?nodes=studio-2", "fulmen:cluster.set_sharing", "fulmen:cluster.set_sharing?jobs=list",
		"fulmen:cluster.set_sharing?jobs=mapped&jobs_from=x", "fulmen:cluster.map_user?members=true&account=root", "fulmen:daemon.set_config?set=x",
		"fulmen:job.submit", "fulmen:daemon.stop?end_jobs=true", "javascript:alert(1)",
	} {
		call, err := Parse(address)
		if !errors.Is(err, api.CodeInvalid) || call.Method != "" {
			t.Errorf("%.80q gave %v, %v", address, call, err)
		}
	}
}

// FuzzParse asks of every address that it is refused, or asks for one of few
// things with parameters that are valid, named and not too many.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"fulmen:rdma.enable?all_ready=true", "fulmen:cluster.pair", "fulmen:daemon.start", "fulmen:cluster.set_sharing?jobs=mapped&keep_awake=true",
		"fulmen:cluster.answer?node=" + node(9) + "&state=later", "fulmen:cluster.remove?nodes=" + node(2), "fulmen:?#", "fulmen:%00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		call, err := Parse(address)
		if err != nil {
			if !errors.Is(err, api.CodeInvalid) || call.Params != nil {
				t.Fatalf("%q: %v, %v", address, call, err)
			}
			return
		}
		if len(address) > MaxLength {
			t.Fatal("too long an address was read")
		}
		if info, known := api.LookupMethod(call.Method); !known || info.Class != api.ClassAdmin {
			t.Fatalf("%q asks for %s", address, call.Method)
		}
		switch p := call.Params.(type) {
		case api.RDMAChangeParams:
			if p.DryRun || p.AllReady == (len(p.Links) > 0) || len(p.Links) > MaxNames {
				t.Fatalf("%q: %v", address, p)
			}
		case api.ClusterAnswerParams:
			if !p.Node.Valid() || p.Code != "" || p.Account != "" {
				t.Fatalf("%q: %v", address, p)
			}
		case api.ClusterRemoveParams:
			if len(p.Nodes) == 0 || len(p.Nodes) > MaxNames || p.DryRun {
				t.Fatalf("%q: %v", address, p)
			}
		case api.ClusterSetSharingParams:
			if p.JobsFrom != nil || p.MemoryMaxBytes != nil || p.IdleAfterS != nil || p.RDMAChanges != "" {
				t.Fatalf("%q: %v", address, p)
			}
		case api.ClusterPairParams:
			if p.Close {
				t.Fatalf("%q: %v", address, p)
			}
		case api.DaemonStopParams:
			if p.EndJobs {
				t.Fatalf("%q: %v", address, p)
			}
		case api.Empty:
		default:
			t.Fatalf("%q: %T", address, p)
		}
	})
}

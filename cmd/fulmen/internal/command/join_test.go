package command

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// shows makes Macs show codes.
func (r *rig) shows(all ...api.Pending) {
	for _, p := range all {
		r.daemon.Put(pendingDoc(r.t, p))
	}
}

func macMini() api.Pending {
	return api.Pending{Peer: mini, Name: "mac-mini", State: api.PendingAsking, TriesLeft: 3, Since: before(1)}
}

func macBook() api.Pending {
	return api.Pending{Peer: book, Name: "macbook", State: api.PendingLater, TriesLeft: 3, Since: before(0)}
}

// joins answers joining: the first codes are wrong.
func (r *rig) joins(wrong int) {
	r.daemon.Set("cluster.join", func(json.RawMessage) (any, error) {
		if wrong--; wrong >= 0 {
			switch left := 3 - len(r.called("cluster.join")); left {
			case 2:
				return nil, api.Errorf(api.ReasonWrongCode, "", "Wrong code, 2 tries left.")
			case 1:
				return nil, api.Errorf(api.ReasonWrongCode, "", "Wrong code, 1 try left.")
			}
			return nil, api.NewError(api.ReasonCodeUsedUp, "")
		}
		return api.ClusterJoinResult{Cluster: clusterID, Members: roster3()}, nil
	})
}

func TestJoinWithoutATerminal(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "  k7qm-3wxd \nnot for this one\n")
	r.shows(macMini(), api.Pending{Peer: book, Name: "macbook", State: api.PendingIgnored})
	r.joins(0)
	is.Equal(r.run("join"), 0)
	is.Equal(r.called("cluster.join"), []string{`{"node":"axwfk1even66ca3j","code":"k7qm-3wxd"}`}) // nothing is lent
	is.True(strings.Contains(r.out.String(), "mac-mini    axwf-k1ev-en66-ca3j  added by mac-studio 8 h ago"))
	is.True(strings.Contains(r.out.String(), "Nobody else in the cluster can run jobs here yet"))

	r = newRig(t, "wrong\nwrong again\n")
	r.shows(macMini())
	r.joins(9)
	is.Equal(r.run("join", "mac-mini"), 1)
	is.Equal(r.err.String(), "mac-mini (unknown) shows a code.\nfulmen: Wrong code, 2 tries left.\n  Read the code on the other Mac again.\n")
	is.Equal(len(r.called("cluster.join")), 1) // nobody can read it again

	r = newRig(t, "")
	r.shows(macMini())
	is.Equal(r.run("join", "axwf"), 1)
	is.Equal(r.err.String(), "mac-mini (unknown) shows a code.\nfulmen: No code was entered.\n  Type the code here, or give it on standard input.\n")
}

func TestJoinAsks(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "7\n2\nada\nyes\n")
	r.terminal("AAAA-AAAA", "K7QM-3WXD")
	r.shows(macBook(), macMini())
	r.joins(1)
	is.Equal(r.run("join"), 0)
	want := api.ClusterJoinParams{Node: book, Code: "K7QM-3WXD", Account: "ada", RDMAChanges: api.ChangesMembers}
	var got api.ClusterJoinParams
	is.NoErr(json.Unmarshal([]byte(r.called("cluster.join")[1]), &got))
	is.Equal(got, want)
	reported := r.out.String() + r.err.String()
	is.True(strings.Contains(reported, "Which one? [1-2] Which one? [1-2] ")) // 7 is none of them
	is.True(strings.Contains(reported, "May administrators of other Macs in the cluster change the RDMA settings of this Mac? [y/N]"))
	is.True(strings.Contains(reported, "Jobs from the other members run here as ada"))
	is.True(!strings.Contains(reported, "AAAA") && !strings.Contains(reported, "K7QM"))
}

func TestJoinStopsWhereNoTryIsLeft(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.terminal("1", "2", "3", "4")
	r.shows(macMini())
	r.joins(9)
	is.Equal(r.run("join", "--nobody", "--rdma-changes", "nobody"), 1)
	is.Equal(len(r.called("cluster.join")), 3)
	is.True(strings.Contains(r.err.String(), "\nWrong code, 1 try left.\n"))
	is.True(strings.Contains(r.err.String(), "\nfulmen: Too many wrong codes were tried.\n"))
}

func TestJoinAmongSeveral(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "k7qm-3wxd\n")
	r.shows(macBook(), macMini())
	is.Equal(r.run("join"), 1)
	is.True(strings.Contains(r.err.String(), "mac-mini  axwf-k1ev-en66-ca3j"))
	is.True(strings.Contains(r.err.String(), "fulmen: 2 Macs show a code.\n  Name one of them: fulmen join NAME\n"))
	is.Equal(len(r.called("cluster.join")), 0)
}

func TestJoinByAddress(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "k7qm-3wxd\n")
	r.joins(0)
	is.Equal(r.run("join", "192.168.1.7:7732", "--rdma-changes", "members"), 0)
	is.Equal(r.called("cluster.join"), []string{`{"address":"192.168.1.7:7732","code":"k7qm-3wxd","rdma_changes":"members"}`})
}

func TestJoinByInvitation(t *testing.T) {
	is := is.New(t)
	const line = "fulmen-invite-1.secretsecret"
	r := newRig(t, line+"\n")
	r.joins(0)
	is.Equal(r.run("join", "--invite", "-", "--account", "ada", "--json"), 0)
	is.Equal(r.called("cluster.join"), []string{`{"invite":"` + line + `","account":"ada"}`})
	is.True(strings.Contains(r.out.String(), `"members": [`))

	r = newRig(t, "")
	is.Equal(r.run("join", "--invite", line), 2)
	is.True(!strings.Contains(r.err.String(), line)) // not into a log by its error either
	is.Equal(len(r.daemon.Calls()), 0)
}

func TestJoinRefusesContradictions(t *testing.T) {
	for _, args := range [][]string{
		{"join", "--account", "ada", "--nobody"}, {"join", "--rdma-changes", "everybody"}, {"join", "a", "b"}, {"join", "mac", "--invite", "-"},
		{"join", "k7qm-3wxd"}, {"join", "K7QM-3WXD", "--nobody"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			is.Equal(r.run(args...), 2)
			is.Equal(len(r.daemon.Calls()), 0)
			is.True(!strings.Contains(strings.ToUpper(r.err.String()), "K7QM")) // a code is not said again
		})
	}
}

func TestFindGivesUp(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	run := &run{App: r.app}
	c, err := run.connect(t.Context())
	is.NoErr(err)
	defer c.Close()
	r.shows(macBook())
	all, err := find(t.Context(), c, time.Millisecond, "nobody")
	is.NoErr(err)
	is.Equal(len(all), 0)
	all, err = find(t.Context(), c, time.Minute, "macbook")
	is.NoErr(err)
	is.Equal(len(all), 1)
}

func TestJoinGoesOnWhereNoMacIsListed(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"", `{"code":"k7qm-3wxd"}`},
		{"mac-studio", `{"address":"mac-studio","code":"k7qm-3wxd"}`},
		{"axwf-k1ev-en66-ca3j", `{"node":"axwfk1even66ca3j","code":"k7qm-3wxd"}`},
	} {
		t.Run(c.word, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "k7qm-3wxd\n")
			r.joins(0)
			is.Equal(r.run(strings.Fields("join "+c.word)...), 0)
			is.Equal(r.called("cluster.join"), []string{c.want})
		})
	}
}

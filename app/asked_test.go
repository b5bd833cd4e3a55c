package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func asks(method string, params any) Call { return Call{Method: method, Params: params, Admin: true} }

func links(cables ...api.Cable) api.RDMAChangeParams {
	return changeCall("", cables...).Params.(api.RDMAChangeParams)
}

func TestAskedIsConfirmedInOwnWords(t *testing.T) {
	s := state(func(s *State) {
		s.Pending = []api.Pending{{Peer: id(9), Name: "Bob's \x1b[31mMac", State: api.PendingLater, Since: ago(0)}}
	})
	ready, can := s.Cables[0], s.Cables[1]
	for name, tt := range map[string]struct {
		call Call
		want string // the question, and the button
	}{
		"enable":     {asks("rdma.enable", links(can)), "Enable RDMA between studio-1 ↔ mbp? [Enable]"},
		"enable all": {asks("rdma.enable", api.RDMAChangeParams{AllReady: true}), "Enable RDMA on all cables that are ready for it? [Enable]"},
		"disable":    {asks("rdma.disable", links(ready, can)), "Disable RDMA between studio-1 ↔ studio-2, and between studio-1 ↔ mbp? [Disable]"},
		"undo all":   {asks("rdma.undo", api.RDMAChangeParams{AllReady: true}), "Put Back RDMA on all cables? [Put Back]"},
		"pair":       {asks("cluster.pair", api.ClusterPairParams{}), "Show a code on this Mac? [Show Code]"},
		"ignore":     {asks("cluster.answer", api.ClusterAnswerParams{Node: id(9), State: api.PendingIgnored}), `Ignore “Bob's \x1b[31mMac”? [Ignore]`},
		"remove":     {asks("cluster.remove", api.ClusterRemoveParams{Nodes: []api.NodeRef{api.NodeRef(id(2)), api.NodeRef(id(3))}}), "Remove “studio-2” and “mbp” from the cluster? [Remove]"},
		"lend":       {asks("cluster.set_sharing", api.ClusterSetSharingParams{Jobs: api.JobsMapped, KeepAwake: some(false)}), "Change what this Mac lends? [Change]"},
		"stop":       {asks("daemon.stop", api.DaemonStopParams{}), "Stop Fulmen on this Mac? [Stop]"},
		"start":      {asks("daemon.start", api.Empty{}), "Start Fulmen on this Mac? [Start]"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			item, err := s.Asked(tt.call)
			is.NoErr(err)
			is.Equal(item.Do.Confirm.Title+" ["+item.Do.Confirm.Button+"]", tt.want)
			is.True(strings.Contains(item.Do.Confirm.Text, "A link asked for this."))
			is.Equal(*item.Do.Call, tt.call)
		})
	}
	t.Run("a code is typed, never believed", func(t *testing.T) {
		is := is.New(t)
		item, err := s.Asked(asks("cluster.answer", api.ClusterAnswerParams{Node: id(9)}))
		is.NoErr(err)
		is.Equal(item.Do.Dialog.Kind, DialogEnterCode)
		is.Equal(item.Do.Dialog.Node, string(id(9)))
	})
}

func TestAskedIsRefused(t *testing.T) {
	tb4 := func(s *State) {
		for i := range s.Cables {
			s.Cables[i].Kind = api.LinkTB4
			s.Cables[i].RDMA = api.RDMACanEnable // whatever a daemon says
		}
	}
	none := func(*State) {}
	gone := cable(1, 7, api.RDMACanEnable)
	for name, tt := range map[string]struct {
		change func(*State)
		call   Call
		want   error
	}{
		"Thunderbolt 4":  {tb4, asks("rdma.enable", links(cable(1, 3, ""))), api.ReasonRDMANotReady},
		"ready already":  {none, asks("rdma.enable", links(cable(1, 2, ""))), api.ReasonRDMANotReady},
		"one of two":     {none, asks("rdma.enable", links(cable(1, 3, ""), cable(1, 2, ""))), api.ReasonRDMANotReady},
		"not plugged":    {none, asks("rdma.disable", links(gone)), api.ReasonLinkGone},
		"nobody asks":    {none, asks("cluster.answer", api.ClusterAnswerParams{Node: id(9)}), api.ReasonNoSuchNode},
		"this Mac":       {none, asks("cluster.remove", api.ClusterRemoveParams{Nodes: []api.NodeRef{api.NodeRef(id(1))}}), api.ReasonNoSuchNode},
		"no member":      {none, asks("cluster.remove", api.ClusterRemoveParams{Nodes: []api.NodeRef{api.NodeRef(id(9))}}), api.ReasonNoSuchNode},
		"another method": {none, asks("job.stop", api.JobStopParams{}), api.ReasonBadValue},
		"no daemon":      {func(s *State) { s.Daemon = DaemonGone }, asks("cluster.pair", api.ClusterPairParams{}), api.ReasonNoDaemon},
		"not set up":     {func(s *State) { s.Setup = SetupNeedsApproval }, asks("cluster.pair", api.ClusterPairParams{}), api.ReasonNoDaemon},
	} {
		t.Run(name, func(t *testing.T) {
			item, err := state(tt.change).Asked(tt.call)
			if !errors.Is(err, tt.want) || item.Do != nil {
				t.Errorf("gave %v, %v", item, err)
			}
		})
	}
}

func TestOverviewOfEveryState(t *testing.T) {
	for name, s := range states() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := Build(s)
			o := m.Overview()
			lines := strings.Split(o.Text, "\n")
			is.True(o.Text != "" && len(lines) <= mostOverview+1)
			is.Equal(lines[0], m.Items[0].Title) // what stands first in the menu stands first here
			is.True(len(o.Choices) >= 2 && len(o.Choices) <= 4)
			is.Equal(o.Choices[len(o.Choices)-1].ID, "quit")
			for _, c := range o.Choices {
				is.True(c.Do != nil && !c.Disabled)
			}
		})
	}
}

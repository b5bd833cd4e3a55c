package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Sharing writes what a node lends: the keys that can be set, and what they mean.
func (v View) Sharing(w io.Writer, s api.Sharing, called map[api.NodeID]string) error {
	table := text.NewTable("KEY", "VALUE", "MEANS")
	table.Row("jobs", string(s.Jobs), jobsMean(s))
	table.Row("jobs_from", orNone(principals(s.JobsFrom, called)), "who may, where jobs is list")
	changes := "nobody else may change RDMA on this Mac"
	if s.RDMAChanges == api.ChangesMembers {
		changes = "administrators of the cluster's members may change RDMA on this Mac"
	}
	table.Row("rdma_changes", string(s.RDMAChanges), changes)
	table.Row("only_on_power", strconv.FormatBool(s.OnlyOnPower), choose(s.OnlyOnPower, "no jobs of others on battery", "also on battery"))
	table.Row("only_when_idle", strconv.FormatBool(s.OnlyWhenIdle), choose(s.OnlyWhenIdle, "no jobs of others while somebody uses this Mac", "also while somebody uses this Mac"))
	table.Row("idle_after_s", strconv.FormatFloat(s.IdleAfterS, 'f', -1, 64), "it counts as idle after "+text.Duration(time.Duration(s.IdleAfterS*float64(time.Second))))
	limit, most := none, "as much memory as the GPU can use"
	if s.MemoryMaxBytes != nil {
		limit, most = strconv.FormatInt(*s.MemoryMaxBytes, 10), "at most "+text.Bytes(*s.MemoryMaxBytes)+" for jobs of others together"
	}
	table.Row("memory_max_bytes", limit, most)
	table.Row("keep_awake", strconv.FormatBool(s.KeepAwake), choose(s.KeepAwake, "kept from idle sleep always", "kept from idle sleep while it works"))
	return table.Write(w)
}

func choose(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func jobsMean(s api.Sharing) string {
	switch s.Jobs {
	case api.JobsNobody:
		return "no job of others runs here"
	case api.JobsMapped:
		return "jobs run here of whoever has a local account: " + mapped(s)
	case api.JobsList:
		return "jobs run here of those in jobs_from that have a local account"
	}
	return ""
}

// mapped says who has a local account.
func mapped(s api.Sharing) string {
	if s.MappedMembers {
		return "all members' people, with exceptions as fulmen users says"
	}
	count := func(n int, one, more string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, more)
	}
	out := count(len(s.Mapped), "person", "people")
	if n := len(s.MappedNodes); n > 0 {
		out += " and those of " + count(n, "member", "members")
	}
	return out + " now"
}

func principals(all []api.Principal, called names) string {
	var out []string
	for _, p := range all {
		out = append(out, person(p, called))
	}
	return strings.Join(out, ",")
}

// person is somebody as people write it: ada@mac-studio.
func person(p api.Principal, called names) string { return p.User + "@" + called.of(p.Node) }

// Users writes as which local account people's jobs run on this node.
func (v View) Users(w io.Writer, users []api.MappedUser, called map[api.NodeID]string) error {
	if len(users) == 0 {
		_, err := fmt.Fprintln(w, "Nobody of the cluster has an account here. Give one with: fulmen users map WHO ACCOUNT")
		return err
	}
	table := text.NewTable("WHO", "RUNS JOBS HERE AS", "MEANS")
	for _, u := range users {
		account := u.Account
		switch {
		case u.Nobody:
			account = "nobody"
		case account == "":
			account = "(told to administrators)"
		}
		switch {
		case u.Members:
			table.Row("everybody", account, "all people of all members")
		case u.Node != "":
			table.Row(called[u.Node], account, "all people of "+u.Node.Display())
		default:
			table.Row(person(u.Principal, called), account, u.Principal.String())
		}
	}
	return table.Write(w)
}

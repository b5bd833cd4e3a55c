package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Sharing writes what a node lends: the keys that can be set, and what they mean.
func (v View) Sharing(w *Page, s api.Sharing, called Names) {
	var from []string
	for _, p := range s.JobsFrom {
		from = append(from, person(p, called))
	}
	table := text.NewTable("KEY", "VALUE", "MEANS")
	table.Row("jobs", string(s.Jobs), jobsMean(s))
	table.Row("jobs_from", orNone(strings.Join(from, ",")), "who may, where jobs is list")
	readers := choose(s.Models == api.ModelsMapped, "those with a local account may copy that account's models", "nobody elsewhere may read the models here")
	if s.Models == api.ModelsMembers {
		readers = "those with a local account may copy that account's models, all members what was got without a token"
	}
	table.Row("models", string(cmp.Or(s.Models, api.ModelsNobody)), readers)
	who := choose(s.RDMAChanges == api.ChangesMembers, "administrators of the cluster's members", "nobody else")
	table.Row("rdma_changes", string(s.RDMAChanges), who+" may change RDMA on this Mac")
	table.Row("only_on_power", strconv.FormatBool(s.OnlyOnPower), choose(s.OnlyOnPower, "no jobs from others on battery", "also on battery"))
	table.Row("only_when_idle", strconv.FormatBool(s.OnlyWhenIdle), choose(s.OnlyWhenIdle, "no jobs from others while somebody uses this Mac", "also while somebody uses this Mac"))
	table.Row("idle_after_s", strconv.FormatFloat(s.IdleAfterS, 'f', -1, 64), "it counts as idle after "+text.Duration(time.Duration(s.IdleAfterS*float64(time.Second))))
	limit, most := none, "as much memory as the GPU can use"
	if s.MemoryMaxBytes != nil {
		limit, most = strconv.FormatInt(*s.MemoryMaxBytes, 10), "at most "+text.Bytes(*s.MemoryMaxBytes)+" for all jobs from others together"
	}
	table.Row("memory_max_bytes", limit, most)
	table.Row("keep_awake", strconv.FormatBool(s.KeepAwake), choose(s.KeepAwake, "always kept awake", "kept awake only while it works"))
	w.Table(table)
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
		return "no job from others runs here"
	case api.JobsMapped:
		return "jobs run here for everybody who has a local account: " + mapped(s)
	case api.JobsList:
		return "jobs run here for those in jobs_from who have a local account"
	}
	return ""
}

// mapped says who has a local account.
func mapped(s api.Sharing) string {
	if s.MappedMembers {
		return "all members' people" + choose(len(s.Unmapped)+len(s.UnmappedNodes) > 0, ", with exceptions as fulmen users says", "")
	}
	out := fmt.Sprintf("%d %s", len(s.Mapped), choose(len(s.Mapped) == 1, "person", "people"))
	if n := len(s.MappedNodes); n > 0 {
		out += " and those of " + text.Count(n, "member")
	}
	return out + " now"
}

// person is somebody as people write it: ada@mac-studio.
func person(p api.Principal, called Names) string { return p.User + "@" + called.Of(p.Node) }

// Users writes as which local account people's jobs run on this node.
func (v View) Users(w *Page, users []api.MappedUser, called Names) {
	if len(users) == 0 {
		w.Line("Nobody in the cluster has an account here. To give somebody one: fulmen users map WHO ACCOUNT")
		return
	}
	table := text.NewTable("WHO", "RUNS JOBS HERE AS", "MEANS")
	for _, u := range users {
		account := u.Account
		switch {
		case u.Nobody:
			account = "nobody"
		case account == "":
			account = "(shown only to administrators)"
		}
		if u.MaxPriority > 0 {
			account += fmt.Sprintf(", priority up to %d", u.MaxPriority)
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
	w.Table(table)
}

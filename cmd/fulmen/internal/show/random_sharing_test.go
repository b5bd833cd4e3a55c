package show

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/app"
	"fulmen/daemon/api"
)

// share gives each Mac what it lends, the paths by which it is reached, and the first one
// Macs that ask to join.
func (d *drawnCluster) share(r *rand.Rand) error {
	often := func(percent int) bool { return r.IntN(100) < percent }
	principals := func() (all []api.Principal) {
		for range r.IntN(3) {
			p := api.Principal{User: either(often(50), "ada", "bob"), Node: d.ids[r.IntN(len(d.ids))]}
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
		return all
	}
	nodes := func() (some []api.NodeID) {
		for _, i := range r.Perm(len(d.ids))[:r.IntN(2)] {
			some = append(some, d.ids[i])
		}
		return some
	}
	for i, id := range d.ids {
		s := api.Sharing{Jobs: []api.JobSharing{api.JobsNobody, api.JobsMapped, api.JobsList}[r.IntN(3)], Mapped: principals(), Unmapped: principals(), MappedMembers: often(30), KeepAwake: often(30), OnlyOnPower: often(40), OnlyWhenIdle: often(40),
			Models: []api.ModelSharing{api.ModelsNobody, api.ModelsMapped, api.ModelsMembers}[r.IntN(3)], RDMAChanges: either(often(50), api.ChangesMembers, api.ChangesNobody), IdleAfterS: float64(10 * (1 + r.IntN(2000)))}
		if s.Jobs == api.JobsList {
			s.JobsFrom = principals()
		}
		if s.MappedMembers {
			s.UnmappedNodes = nodes()
		} else {
			s.MappedNodes = nodes()
		}
		if often(40) {
			s.MemoryMaxBytes = new(int64(1+r.IntN(900)) << 30)
		}
		d.macs[i].sharing = s
		doc := api.Document{Node: id, Kind: api.KindSharing, Inc: 1, Seq: 3000, At: api.TimeOf(d.now), Simulated: true}
		if err := doc.SetValue(s); err != nil {
			return err
		}
		d.Docs = append(d.Docs, doc)
		kinds, states := []api.LinkKind{api.LinkTB5, api.LinkEthernet, api.LinkWiFi}, []api.PathState{api.PathActive, api.PathStandby, api.PathFailed}
		for k := range r.IntN(3) {
			p := api.PathView{Interface: fmt.Sprintf("en%d", k), Kind: kinds[r.IntN(3)], State: states[r.IntN(len(states))], Address: api.PeerAddress{Peer: id, Address: netip.MustParseAddr("10.0.0.7")}}
			if k == 0 && d.macs[i].isHere() {
				p.State = api.PathActive // the best is the first
			}
			if often(60) {
				p.RTTUS = new(float64(2 * (1 + r.IntN(900))))
			}
			d.list.Nodes[i].Paths = append(d.list.Nodes[i].Paths, p)
		}
	}
	for i := range r.IntN(3) {
		p := api.Pending{Peer: api.NodeIDFromKey(ed25519.PublicKey(fmt.Sprintf("%032d", i))), Name: fmt.Sprintf("new-%d", i), Interface: "en0", State: []api.PendingState{api.PendingAsking, api.PendingProving, api.PendingLater, api.PendingIgnored}[r.IntN(4)], Since: api.TimeOf(d.now.Add(time.Duration(i) * time.Second))}
		doc := api.Document{Node: d.ids[0], Kind: api.KindPending, Name: string(p.Peer), Inc: 1, Seq: 3000, At: api.TimeOf(d.now)}
		if err := doc.SetValue(p); err != nil {
			return err
		}
		d.Docs, d.pending = append(d.Docs, doc), append(d.pending, p)
	}
	return nil
}

// wantSharing is what is to be said of what Macs lend.
func (d *drawnCluster) wantSharing(s screenTexts) {
	people := func(all []api.Principal, between string) string {
		var names []string
		for _, p := range all {
			names = append(names, p.User+"@"+d.named(string(p.Node)))
		}
		return strings.Join(names, between)
	}
	for i, id := range d.ids {
		l, key := d.macs[i].sharing, fmt.Sprintf("panel %s What it lends/", id)
		if d.macs[i].state.liveness == api.LivenessLeft {
			continue // it has no panel
		}
		s.add(map[api.JobSharing]string{api.JobsNobody: "nobody's", api.JobsMapped: "of everybody who has an account there", api.JobsList: "of " + cmp.Or(people(l.JobsFrom, ", "), "nobody")}[l.Jobs], "%sJobs", key)
		var have, lack []string
		if l.MappedMembers {
			have = append(have, "everybody")
		}
		for _, n := range l.MappedNodes {
			have = append(have, "everybody on "+d.named(string(n)))
		}
		for _, n := range l.UnmappedNodes {
			lack = append(lack, "everybody on "+d.named(string(n)))
		}
		for _, p := range l.Unmapped {
			if !l.IsMapped(p) && (l.MappedMembers && !slices.Contains(l.UnmappedNodes, p.Node) || slices.Contains(l.MappedNodes, p.Node)) {
				lack = append(lack, people([]api.Principal{p}, ""))
			}
		}
		accounts := strings.Join(have, ", ") + either(len(lack) > 0, " but "+strings.Join(lack, ", "), "")
		accounts = written(either(len(lack) > 0, "; ", ", "), accounts, people(slices.DeleteFunc(slices.Clone(l.Mapped), func(p api.Principal) bool {
			return l.MappedMembers && !slices.Contains(l.UnmappedNodes, p.Node) || slices.Contains(l.MappedNodes, p.Node)
		}), ", "))
		s.add(cmp.Or(accounts, "nobody"), "%sAccounts", key)
		when := written(", and ", either(l.OnlyOnPower, "on power", ""), either(l.OnlyWhenIdle, "when nobody has used it for "+length(int(l.IdleAfterS)), ""))
		s.add(cmp.Or(when, "always"), "%sWhen", key)
		limit := "what its GPU can use"
		if l.MemoryMaxBytes != nil {
			limit = "up to " + pageBytes(int(*l.MemoryMaxBytes>>20))
		}
		s.add(limit, "%sMemory", key)
		s.add(map[api.ModelSharing]string{api.ModelsNobody: "read by nobody elsewhere", api.ModelsMapped: "copied by everybody who has an account there", api.ModelsMembers: "copied by everybody who has an account there; public ones by all members"}[l.Models], "%sModels", key)
		s.add(either(l.RDMAChanges == api.ChangesMembers, "by administrators of members", "only on that Mac itself"), "%sRDMA changes", key)
		s.add(either(l.KeepAwake, "always", "while it works"), "%sKept awake", key)
	}
	l := d.macs[0].sharing
	limit, most := "-", "as much memory as the GPU can use"
	if l.MemoryMaxBytes != nil {
		limit, most = fmt.Sprint(*l.MemoryMaxBytes), "at most "+binary(int(*l.MemoryMaxBytes>>20))+" for all jobs from others together"
	}
	mapped := either(len(l.Mapped) == 1, "1 person", fmt.Sprintf("%d people", len(l.Mapped))) + either(len(l.MappedNodes) == 1, " and those of 1 member", "") + " now"
	if l.MappedMembers {
		mapped = "all members' people" + either(len(l.Unmapped)+len(l.UnmappedNodes) > 0, ", with exceptions as fulmen users says", "")
	}
	idle := int(l.IdleAfterS)
	for key, cells := range map[string][2]string{
		"jobs":             {string(l.Jobs), map[api.JobSharing]string{api.JobsNobody: "no job from others runs here", api.JobsMapped: "jobs run here for everybody who has a local account: " + mapped, api.JobsList: "jobs run here for those in jobs_from who have a local account"}[l.Jobs]},
		"jobs_from":        {cmp.Or(people(l.JobsFrom, ","), "-"), "who may, where jobs is list"},
		"models":           {string(l.Models), map[api.ModelSharing]string{api.ModelsNobody: "nobody elsewhere may read the models here", api.ModelsMapped: "those with a local account may copy that account's models", api.ModelsMembers: "those with a local account may copy that account's models, all members what was got without a token"}[l.Models]},
		"rdma_changes":     {string(l.RDMAChanges), either(l.RDMAChanges == api.ChangesMembers, "administrators of the cluster's members", "nobody else") + " may change RDMA on this Mac"},
		"only_on_power":    {fmt.Sprint(l.OnlyOnPower), either(l.OnlyOnPower, "no jobs from others on battery", "also on battery")},
		"only_when_idle":   {fmt.Sprint(l.OnlyWhenIdle), either(l.OnlyWhenIdle, "no jobs from others while somebody uses this Mac", "also while somebody uses this Mac")},
		"idle_after_s":     {fmt.Sprint(idle), "it counts as idle after " + span(idle)},
		"memory_max_bytes": {limit, most},
		"keep_awake":       {fmt.Sprint(l.KeepAwake), either(l.KeepAwake, "always kept awake", "kept awake only while it works")},
	} {
		s.add(cells[0], "sharing %s VALUE", key)
		s.add(cells[1], "sharing %s MEANS", key)
	}
	some := either(len(l.JobsFrom) == 1, "1 person", "some people")
	s.add("Jobs on this Mac: "+map[api.JobSharing]string{api.JobsNobody: "from me only", api.JobsMapped: "from everybody with an account here", api.JobsList: "from " + some}[l.Jobs]+
		either(l.OnlyOnPower, ", on power", "")+either(l.OnlyWhenIdle, ", when idle", ""), "menu sharing")
	for item, is := range map[string]bool{"nobody": l.Jobs == api.JobsNobody, "mapped": l.Jobs == api.JobsMapped, "list": l.Jobs == api.JobsList, "power": l.OnlyOnPower, "idle": l.OnlyWhenIdle,
		"models": l.Models != api.ModelsNobody, "public": l.Models == api.ModelsMembers, "awake": l.KeepAwake} {
		s.add(either(is, "checked", ""), "menu sharing:%s", item)
	}
}

// wantPorts is what is to be said of what is plugged in at each Mac, and of how it is reached.
func (d *drawnCluster) wantPorts(s screenTexts) {
	far := map[randomEnd]randomEnd{}
	for _, c := range d.cables {
		far[c.ends[0]], far[c.ends[1]] = c.ends[1], c.ends[0]
	}
	for i, id := range d.ids {
		for k := range d.macs[i].ports {
			text := "empty"
			if e, is := far[randomEnd{i, k}]; is {
				text = fmt.Sprintf("m%d:%d", e.mac, e.port+1)
			}
			s.add(text, "node %s: port %d", id, k+1)
			if d.macs[i].state.liveness != api.LivenessLeft {
				s.add(text, "panel %s Thunderbolt/%d", id, k+1)
			}
		}
		var paths, onPage []string
		for _, p := range d.list.Nodes[i].Paths {
			words := map[api.LinkKind][2]string{api.LinkTB5: {"TB5", "Thunderbolt 5"}, api.LinkEthernet: {"Ethernet", "Ethernet"}, api.LinkWiFi: {"Wi-Fi", "Wi-Fi"}}[p.Kind]
			delay := "-"
			if p.RTTUS != nil {
				delay = fmt.Sprintf("%d µs", halfUp(*p.RTTUS/2))
			}
			paths = append(paths, written(" ", words[0], p.Interface, either(delay == "-", "", delay), either(p.State == api.PathActive, "", "("+string(p.State)+")")))
			onPage = append(onPage, words[1]+" by "+p.Interface+": "+string(p.State))
		}
		if len(onPage) > 0 && i > 0 && d.macs[i].isHere() {
			over, _, _ := strings.Cut(onPage[0], " by ")
			s.add("Reached over "+over, "menu node:%s:path", id)
		}
		s.add(strings.Join(paths, "\n"), "node %s: paths", id)
		if d.macs[i].state.liveness != api.LivenessLeft {
			s.add(strings.Join(onPage, "\n"), "panel %s Paths", id)
		}
	}
}

// wantTabs is what is to be counted beside the names of pages, and asked above them.
func (d *drawnCluster) wantTabs(s screenTexts) {
	running, problems, asking := 0, 0, 0
	for _, j := range d.jobs {
		running += either(j.Phase.Ended(), 0, 1)
	}
	for _, c := range d.conditions {
		problems += either(c.Severity == api.SeverityInfo, 0, 1)
	}
	for _, p := range d.pending {
		asking += either(p.State == api.PendingAsking, 1, 0)
		title := map[api.PendingState]string{api.PendingAsking: "“" + p.Name + "” wants to join", api.PendingProving: "Checking the code of “" + p.Name + "”"}[p.State]
		if title != "" {
			s.add(title, "menu pending:%s", p.Peer)
			s.add("A Mac, over en0", "menu pending:%s:from", p.Peer)
			s.add("Its id: "+p.Peer.Display(), "menu pending:%s:id", p.Peer)
		}
	}
	count := func(name string, n int, what string) string {
		return name + either(n > 0, fmt.Sprintf(" %d %s", n, what), "")
	}
	s.add(strings.Join([]string{"Cluster", count("Jobs", running, "running"), "Instances", count("Models", len(d.copies), "being copied"), count("Health", problems, "open"), count("Pairing", asking, "asking"), "Events", "Settings"}, "\n"), "page tabs")
	s.add(either(problems > 0, fmt.Sprintf("(%d) ", problems), "")+"SIMULATED – Cluster – Fulmen", "page title")
	if asking > 0 {
		s.add(either(asking == 1, "1 Mac asks", fmt.Sprintf("%d Macs ask", asking))+" to join this cluster. Answer", "page asking")
	}
}

// sharingItems adds what is marked in the menu of what its Mac lends.
func (s screenTexts) sharingItems(m app.Menu) {
	for _, top := range m.Items {
		if top.ID != "sharing" {
			continue
		}
		s.add(top.Title, "menu sharing")
		for _, below := range top.Items {
			s.add(either(below.Checked, "checked", ""), "menu %s", below.ID)
		}
	}
}

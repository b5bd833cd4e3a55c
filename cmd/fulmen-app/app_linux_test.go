package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// TestApp clicks through the menu over D-Bus and sees the daemons act. The parts
// share one cluster, and come in this order.
func TestApp(t *testing.T) {
	r := newRig(t, "studio-1", "studio-2")
	for _, part := range []struct {
		name string
		try  func(t *testing.T, r *rig)
	}{
		{"shows the cluster", showsTheCluster},
		{"adds Macs", addsMacs},
		{"measures", measures},
		{"changes RDMA", changesRDMA},
		{"runs jobs", runsJobs},
		{"lends", lends},
		{"opens and copies", opensAndCopies},
		{"keeps the link", keepsTheLink},
		{"keeps its settings", keepsSettings},
		{"outlives the daemon", outlivesTheDaemon},
		{"removes a Mac", removesAMac},
		{"is there once", isThereOnce},
		{"quits", quits},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			r.t = t
			part.try(t, r)
		}) {
			break // what follows builds on it
		}
	}
	r.t = t
}

func showsTheCluster(t *testing.T, r *rig) {
	is := is.New(t)
	r.shows("2 Macs")
	r.awaits("that it is simulated", func(all []line) bool { return strings.HasSuffix(all[0].title, "(SIMULATED)") })
	r.shows("studio-1 (this Mac)")
	r.shows("studio-2")
	r.shows("Cables:", "studio-1 ↔ studio-2")
	// A line that is only read does nothing, though a desktop may send the click.
	is.True(r.shows("studio-2", "Simulated").disabled)
	r.click("studio-2", "Simulated")
}

func addsMacs(t *testing.T, r *rig) {
	is := is.New(t)
	// This Mac shows a code.
	r.click("Add a Mac", "Show a Code on This Mac")
	r.does("zenity --info", "Type this code on the other Mac")
	code := r.shows("Code for the other Mac: ")
	is.Equal(len(code.title), len("Code for the other Mac: XXXX-XXXX"))
	r.click("Code for the other Mac", "Show in Large Type")
	r.does("zenity --info", strings.TrimPrefix(code.title, "Code for the other Mac: "))
	r.click("Code for the other Mac", "Stop Adding")
	r.lacks("Code for the other Mac")

	// Another Mac shows one. It is put off, taken up again by a link, ignored, taken
	// up again, and let in.
	mini, err := r.Add(t.Context(), "mini")
	is.NoErr(err)
	open, err := client.Call[api.ClusterPairResult](t.Context(), mini.Client, "cluster.pair", api.ClusterPairParams{})
	is.NoErr(err)
	const asks = "“Mini” wants to join"
	is.True(r.shows(asks, "Mac mini").disabled)
	is.True(r.shows(asks, "Its id: "+mini.ID.Display()).disabled)
	for _, not := range []struct {
		item string
		api.PendingState
	}{{"Later", api.PendingLater}, {"Ignore", api.PendingIgnored}} {
		r.click(asks, not.item)
		r.lacks(asks)
		is.Equal(pendingAt(t, r, mini.ID).State, not.PendingState)
		is.NoErr(r.answer("yes"))
		r.opens("fulmen:cluster.answer?state=asking&node=" + string(mini.ID))
		r.does("zenity --question", "Show “Mini” again?", "A link asked for this.")
		r.shows(asks)
	}
	is.NoErr(r.answer("0000-0000", r.stage.Account.Name))
	r.click(asks, "Enter Its Code…")
	r.does("zenity --entry", "Add “Mini”?", "(Mac mini (2024), "+mini.ID.Display()+")")
	r.does("zenity --entry", "Which account may its people use to run programs on this Mac?", "--entry-text="+r.stage.Account.Name)
	r.does("zenity --error", "Enter Its Code")
	is.NoErr(r.answer(open.Code, r.stage.Account.Name))
	r.click(asks, "Enter Its Code…")
	r.does("zenity --entry", "Which account may its people use to run programs on this Mac?")
	r.shows("3 Macs")
	r.shows("mini")
	r.lacks(asks)
	users, err := client.Call[api.ClusterUsersResult](t.Context(), r.Nodes[0].Client, "cluster.users", nil)
	is.NoErr(err)
	is.True(slices.ContainsFunc(users.Users, func(u api.MappedUser) bool { return u.Node == mini.ID && u.Account == r.stage.Account.Name }))
}

// pendingAt is what the first Mac keeps of one that asks.
func pendingAt(t *testing.T, r *rig, peer api.NodeID) (p api.Pending) {
	t.Helper()
	got, err := client.Call[api.StateGetResult](t.Context(), r.Nodes[0].Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindPending}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got.Docs {
		if err := d.Decode(&p); err == nil && p.Peer == peer {
			return p
		}
	}
	t.Fatalf("%s does not ask", peer)
	return p
}

func runsJobs(t *testing.T, r *rig) {
	is := is.New(t)
	node := r.Nodes[0]
	out, err := node.Command(t.Context(), r.stage.Fulmen, "run", "-n", "1", "--backend", "ring", "--name", "sleeper", "--detach", "--", "sleep", "600").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.shows("sleeper   1 Mac", "Stop…")
	r.click("sleeper", "Logs")
	r.browses("page=/job/")
	is.NoErr(r.answer())
	r.click("sleeper", "Stop…") // and no: nothing is answered
	r.does("zenity --question", "Stop “sleeper”?")
	r.confirms("sleeper", "Stop…")
	r.shows("sleeper   stopped")
	list, err := client.Call[api.JobListResult](t.Context(), node.Client, "job.list", api.JobListParams{Ended: true})
	is.NoErr(err)
	is.Equal(len(list.Jobs), 1)
	is.Equal(list.Jobs[0].Phase, api.JobStopped)
	r.click("sleeper", "Run It Again")
	r.confirms("sleeper   1 Mac", "Stop…")
	r.shows("sleeper   stopped")
}

func lends(t *testing.T, r *rig) {
	is := is.New(t)
	for _, tt := range []struct{ item, title string }{
		{"", "Jobs on this Mac: from everybody with an account here, on power"},
		{"Only on Power", "Jobs on this Mac: from everybody with an account here"},
		{"From Me Only", "Jobs on this Mac: from me only"},
		{"Only on Power", "Jobs on this Mac: from me only, on power"},
		{"From Everybody with an Account Here", "Jobs on this Mac: from everybody with an account here, on power"},
	} {
		if tt.item != "" {
			r.click("Jobs on this Mac", tt.item)
		}
		r.awaits(tt.title, func(all []line) bool {
			l, err := find(all, "Jobs on this Mac")
			return err == nil && l.title == tt.title
		})
	}
	r.click("Jobs on this Mac", "Only When Nobody Uses It") // a simulated Mac cannot tell
	r.does("zenity --error", "cannot tell whether somebody uses this Mac")
	r.click("Jobs on this Mac", "Keep This Mac Awake")
	r.checks("Jobs on this Mac", "Keep This Mac Awake")
	r.click("Jobs on this Mac", "From Some People…")
	r.browses("page=/sharing")
	sharing, err := client.Call[api.Sharing](t.Context(), r.Nodes[0].Client, "cluster.sharing", nil)
	is.NoErr(err)
	is.Equal(sharing.Jobs, api.JobsMapped)
	is.True(sharing.KeepAwake && sharing.OnlyOnPower && !sharing.OnlyWhenIdle)
}

func opensAndCopies(t *testing.T, r *rig) {
	is := is.New(t)
	r.click("Open Dashboard")
	r.browses("http://127.0.0.1:")
	r.click("studio-2", "Show in Dashboard")
	r.browses("page=/node/" + string(r.Nodes[1].ID))
	r.click("Cables:", "studio-1 ↔ studio-2", "Show Me the Ports")
	r.browses("page=/link/")
	r.click("Copy Diagnostics")
	r.does("wl-copy")
	text, err := os.ReadFile(r.copied())
	is.NoErr(err)
	is.True(strings.HasPrefix(string(text), "Fulmen "+version+"\n\n==== versions.json ====\n"))
	is.True(strings.Contains(string(text), "==== state.json ====")) // with what only the daemon knows
}

func keepsSettings(t *testing.T, r *rig) {
	is := is.New(t)
	is.True(r.shows("Settings", "Notifications").checked)
	r.click("Settings", "Notifications")
	r.awaits("notifications off", func(all []line) bool {
		l, err := find(all, "Settings", "Notifications")
		return err == nil && !l.checked
	})
	for _, title := range []string{"GPU Use of This Mac", "Power of All Macs", "Nothing", "Memory Used"} {
		r.click("Settings", "Beside the Icon", title)
		r.checks("Settings", "Beside the Icon", title)
	}
	text, err := os.ReadFile(filepath.Join(r.Nodes[0].Home, "app.toml"))
	is.NoErr(err)
	is.Equal(string(text), "title = \"memory\"\nnotifications = false\n")
	for _, title := range []string{"Open at Login", "Install the Command Line Tool…"} {
		r.click("Settings", title)
		r.does("zenity --error", "only macOS can do this")
	}
}

func outlivesTheDaemon(t *testing.T, r *rig) {
	is := is.New(t)
	r.Nodes[0].End(syscall.SIGKILL)
	r.shows("Fulmen does not answer")
	r.lacks("studio-2")
	r.click("Start Fulmen")
	r.does("zenity --error", "sudo systemctl start fulmend")
	is.NoErr(r.Nodes[0].Boot(t.Context()))
	r.shows("3 Macs")
	r.shows("studio-2")

	r.Nodes[1].End(syscall.SIGKILL)
	r.shows("2 of 3 Macs")
	r.shows("studio-2   not reachable")
	is.NoErr(r.Nodes[1].Boot(t.Context()))
	r.shows("3 Macs")
}

func removesAMac(t *testing.T, r *rig) {
	is := is.New(t)
	is.NoErr(r.answer())
	r.click("mini", "Remove from the Cluster…") // and no
	r.does("zenity --question", "Remove “mini” from the cluster?")
	r.confirms("mini", "Remove from the Cluster…")
	r.shows("2 Macs")
	r.lacks("mini")
	peers, err := client.Call[api.ClusterPeersResult](t.Context(), r.Nodes[0].Client, "cluster.peers", nil)
	is.NoErr(err)
	var removed []api.NodeID
	for _, m := range peers.Members {
		if m.RemovedBy != "" {
			removed = append(removed, m.Node)
		}
	}
	is.Equal(removed, []api.NodeID{r.Nodes[2].ID})
}

func isThereOnce(t *testing.T, r *rig) {
	is := is.New(t)
	is.NoErr(r.answer("Open Dashboard"))
	r.opens()
	r.does("zenity --question", "2 Macs", "studio-1 (this Mac)")
	r.browses("http://127.0.0.1:")
	r.opens("fulmen:job.submit?x=y")
	r.does("zenity --error", "The link cannot be used.")
	is.True(r.app(t.Context(), "--help").Run() != nil)
}

func quits(t *testing.T, r *rig) {
	r.quits = true
	for range 3 { // systray drops a click while it draws the menu anew
		r.click("Quit")
		select {
		case <-r.ended:
			return
		case <-time.After(timeout / 6):
		}
	}
	t.Fatal("the app does not end")
}

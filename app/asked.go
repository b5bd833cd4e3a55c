package app

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Asked is what a link asks for, as a line with a confirmation in words of this
// state alone. It is an error where there is nothing to be asked: the thing is
// not there, or cannot be done to it.
func (s State) Asked(c Call) (Item, error) {
	do, err := s.asked(c)
	if err != nil {
		return Item{}, err
	}
	title := "What a Link Asked For"
	if do.Confirm != nil {
		confirm := *do.Confirm
		confirm.Text = strings.TrimSpace(confirm.Text + "\n\nA link asked for this. Go on only if you have just clicked it in Fulmen's dashboard.")
		do.Confirm, title = &confirm, strings.TrimSuffix(confirm.Title, "?")
	}
	return Item{ID: "link:" + c.Method, Title: title, Do: do}, nil
}

func (s *State) asked(c Call) (*Do, error) {
	if !s.Setup.hasDaemon() || s.Daemon == DaemonConnecting || s.Daemon == DaemonGone {
		return nil, api.NewError(api.ReasonNoDaemon, "")
	}
	call := &Call{Method: c.Method, Params: c.Params, Admin: true}
	switch p := c.Params.(type) {
	case api.RDMAChangeParams:
		return s.askedChange(c.Method, p)
	case api.ClusterAnswerParams:
		return s.askedAnswer(call, p)
	case api.ClusterRemoveParams:
		return s.askedRemoval(p)
	case api.ClusterPairParams:
		return &Do{Call: call, Confirm: &Confirm{Title: "Show a code on this Mac?", Button: "Show Code",
			Text: "Whoever types it on another Mac within five minutes makes that Mac a member of the cluster."}}, nil
	case api.ClusterSetSharingParams:
		return s.askedSharing(call, p)
	case api.DaemonStopParams:
		return &Do{Call: call, Confirm: &Confirm{Title: "Stop Fulmen on this Mac?", Button: "Stop",
			Text: "This Mac leaves the cluster until Fulmen is started again. Its jobs end."}}, nil
	}
	if c.Method == "daemon.start" {
		return &Do{Call: call, Confirm: &Confirm{Title: "Start Fulmen on this Mac?", Button: "Start"}}, nil
	}
	return nil, api.NewError(api.ReasonBadValue, "link")
}

// askedChange is about cables. RDMA is enabled where the menu offers it too.
func (s *State) askedChange(method string, p api.RDMAChangeParams) (*Do, error) {
	titles := map[string][2]string{
		"rdma.enable":  {"Enable", enableText},
		"rdma.disable": {"Disable", "What Fulmen changed at both ends is put back. Jobs that use the cable end."},
		"rdma.undo":    {"Put Back", "Everything that Fulmen changed for RDMA is put back, even if the Mac at the other end cannot be reached."},
	}
	word := titles[method]
	if p.AllReady {
		if method == "rdma.enable" {
			return enableAll(), nil
		}
		return &Do{Call: &Call{Method: method, Params: p, Admin: true},
			Confirm: &Confirm{Title: word[0] + " RDMA on all cables?", Button: word[0], Text: word[1]}}, nil
	}
	var cables []api.Cable
	var names []string
	for _, link := range p.Links {
		at := slices.IndexFunc(s.Cables, func(c api.Cable) bool { return c.Link.Valid() && api.LinkRef(c.Link.String()) == link })
		if at < 0 {
			return nil, api.Errorf(api.ReasonLinkGone, string(link), "A cable that the link names is not plugged in.")
		}
		c := s.Cables[at]
		if r := s.readiness(c); method == "rdma.enable" && !canEnable(c, r) {
			why := "It is already enabled."
			if r.Verdict != api.RDMAReady {
				why = s.whyNot("", c, r)[0].Title
			}
			return nil, api.Errorf(api.ReasonRDMANotReady, string(link), "RDMA cannot be enabled between %s. %s", s.cableName(c), why)
		}
		cables, names = append(cables, c), append(names, s.cableName(c))
	}
	return &Do{Call: changeCall(method, cables...),
		Confirm: &Confirm{Title: word[0] + " RDMA between " + strings.Join(names, ", and between ") + "?", Button: word[0], Text: word[1]}}, nil
}

// askedAnswer is about a Mac that asks to join.
func (s *State) askedAnswer(call *Call, p api.ClusterAnswerParams) (*Do, error) {
	at := slices.IndexFunc(s.Pending, func(o api.Pending) bool { return o.Peer == p.Node })
	if at < 0 {
		return nil, api.Errorf(api.ReasonNoSuchNode, string(p.Node), "That Mac is no longer asking to join.")
	}
	asking := s.Pending[at]
	name := "“" + clean(asking.Name) + "”"
	switch p.State {
	case "":
		return &Do{Dialog: enterCode(asking)}, nil
	case api.PendingIgnored:
		return &Do{Call: call, Confirm: &Confirm{Title: "Ignore " + name + "?", Button: "Ignore", Text: "You will not hear of it again until it has been gone for a day."}}, nil
	case api.PendingLater:
		return &Do{Call: call, Confirm: &Confirm{Title: "Decide about " + name + " later?", Button: "Later"}}, nil
	}
	return &Do{Call: call, Confirm: &Confirm{Title: "Show " + name + " again?", Button: "Show"}}, nil
}

func (s *State) askedRemoval(p api.ClusterRemoveParams) (*Do, error) {
	var nodes []api.NodeID
	for _, ref := range p.Nodes {
		at := slices.IndexFunc(s.Nodes, func(n Node) bool { return api.NodeRef(n.NodeView.Node) == ref && !n.Self })
		if at < 0 {
			return nil, api.Errorf(api.ReasonNoSuchNode, string(ref), "A Mac that the link names is not another member of the cluster.")
		}
		nodes = append(nodes, s.Nodes[at].NodeView.Node)
	}
	return s.remove(nodes...), nil
}

// askedSharing says each change in words.
func (s *State) askedSharing(call *Call, p api.ClusterSetSharingParams) (*Do, error) {
	var parts []string
	switch p.Jobs {
	case api.JobsNobody:
		parts = append(parts, "Only your own jobs run here.")
	case api.JobsMapped:
		parts = append(parts, "Jobs run here for everybody who has an account here.")
	case api.JobsList:
	}
	report := func(set *bool, yes, no string) {
		switch {
		case set == nil:
		case *set:
			parts = append(parts, yes)
		default:
			parts = append(parts, no)
		}
	}
	report(p.OnlyOnPower, "They run only on power.", "They run on battery too.")
	report(p.OnlyWhenIdle, "They start only when nobody uses this Mac.", "They also start while somebody uses this Mac.")
	report(p.KeepAwake, "This Mac is kept awake.", "This Mac may sleep.")
	return &Do{Call: call, Confirm: &Confirm{Title: "Change what this Mac lends?", Button: "Change", Text: strings.Join(parts, " ")}}, nil
}

// OwnerQuestion asks before the app is made the system's, which takes an
// administrator's password.
func OwnerQuestion() Confirm {
	return Confirm{Title: "Protect Fulmen from changes?", Button: "Continue",
		Text: "Fulmen's daemon runs as root, so only root may be able to change it. This asks for an administrator's password once."}
}

// NotOwned is what to say where the app stays a person's: what does not work, and
// how it is mended by hand. The command is for a shell.
func NotOwned(bundle, command string) *api.Error {
	e := api.Errorf(api.ReasonInsecurePermissions, bundle,
		"Fulmen.app still belongs to you. Fulmen shows the cluster, but runs no job and no measurement on this Mac.")
	return e.WithRemedy("Choose Fix in the menu when you have the password, or type in Terminal: " + command)
}

// Question asks for a line of text.
type Question struct {
	// Title is the question.
	Title string
	// Text explains it.
	Text string
	// Hint stands in the empty line; may be empty.
	Hint string
	// Answer stands in the line already; may be empty.
	Answer string
}

// CodeQuestion asks for the code of a dialog.
func CodeQuestion(d Dialog) Question {
	return Question{Title: d.Title, Text: d.Text, Hint: "XXXX-XXXX"}
}

// AccountQuestion asks under which account the people of a cluster, or of a Mac that joins, may
// run programs here; account is whoever asks for it. An empty answer is nobody.
func AccountQuestion(account string) Question {
	return Question{Title: "Which account may its people use to run programs on this Mac?", Hint: "nobody", Answer: account,
		Text: "Any member can run programs here, but only as a local account that you name, with its rights. Leave it empty for nobody; you can choose later."}
}

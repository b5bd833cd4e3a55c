package health

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// maxHeadline bounds a headline, in characters: every screen shows the whole of it.
const maxHeadline = 300

// Headline is the cluster in one line, in the words of every screen: how well it is, or the
// worst of all that is wrong with it, as [Derived] has that. Who does not answer comes first:
// most else may follow from it.
func (s Seen) Headline(all []api.NodeCondition) api.Headline {
	h := api.Headline{}
	names, reached := map[api.NodeID]string{}, map[api.NodeID]bool{}
	simulated := ""
	for _, n := range s.Nodes {
		if n.Liveness != api.LivenessRemoved && n.Liveness != api.LivenessLeft {
			names[n.Node], reached[n.Node] = n.ShortName, n.Liveness.Reached()
			if n.Simulated {
				simulated = " (SIMULATED)"
			}
		}
	}
	var silent []string
	for _, c := range all {
		if !c.IsProblem() {
			continue
		}
		h.Problems++
		isSilent := !reached[c.Node] // of such a node nothing else is known
		isFirst := isSilent && len(silent) == 0
		if isSilent && !slices.Contains(silent, names[c.Node]) {
			silent = append(silent, names[c.Node])
		}
		if h.Worst == nil || isFirst {
			h.Worst = &c
		}
	}
	switch {
	case h.Worst == nil:
		h.Text = "Healthy: " + strings.Join(s.parts(names, reached), ", ")
	case len(silent) > 1:
		h.Text = fmt.Sprintf("%d of %s do not answer: %s.", len(silent), s.macs(len(names)), strings.Join(silent, ", "))
	default:
		h.Text = h.Worst.Text
		if name := names[h.Worst.Node]; len(names) > 1 && !strings.Contains(h.Text, name) {
			h.Text = name + ": " + h.Text
		}
	}
	if runes := []rune(h.Text); len(runes)+len(simulated) > maxHeadline {
		h.Text = strings.TrimSpace(string(runes[:maxHeadline-len(simulated)-1])) + "…"
	}
	h.Text += simulated
	return h
}

// macs counts nodes by what they are.
func (s Seen) macs(n int) string {
	noun := "Mac"
	if s.NotMacs {
		noun = "machine"
	}
	return counted(n, noun)
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// parts are what a healthy cluster consists of, in words.
func (s Seen) parts(members map[api.NodeID]string, reached map[api.NodeID]bool) []string {
	if len(members) <= 1 {
		return []string{"this " + strings.TrimPrefix(s.macs(1), "1 ") + " alone"}
	}
	connected := 0
	for _, is := range reached {
		if is {
			connected++
		}
	}
	parts := []string{s.macs(len(members))}
	if connected < len(members) {
		parts[0] = fmt.Sprintf("%d of %s connected", connected, parts[0])
	}
	cables, fast, unknown, rdma := 0, 0, 0, map[api.RDMAVerdict]int{}
	for _, c := range s.Cables {
		if len(c.Ends) != 2 || c.Ends[0].End.Node == c.Ends[1].End.Node || members[c.Ends[0].End.Node] == "" || members[c.Ends[1].End.Node] == "" {
			continue // of nobody else, or to itself
		}
		cables++
		rdma[c.RDMA]++
		switch c.Verdict {
		case api.VerdictGood:
			fast++
		case api.VerdictUnknown:
			unknown++
		case api.VerdictSlow, api.VerdictBad, api.VerdictDown:
		}
	}
	if cables == 0 {
		return append(parts, "no Thunderbolt cables")
	}
	parts = append(parts, fmt.Sprintf("%d of %s at full speed", fast, counted(cables, "cable")))
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", unknown))
	}
	for _, word := range []struct {
		is   api.RDMAVerdict
		text string
	}{{api.RDMAReady, "RDMA ready"}, {api.RDMACanEnable, "RDMA can be enabled"}, {api.RDMANeedsPerson, "RDMA needs a person"},
		{api.RDMACannot, "no RDMA on these " + strings.TrimPrefix(s.macs(0), "0 ")}} {
		switch n := rdma[word.is]; {
		case n == cables:
			return append(parts, word.text)
		case n > 0 && word.is != api.RDMACannot:
			return append(parts, fmt.Sprintf("%s on %d of %s", word.text, n, counted(cables, "cable")))
		}
	}
	return append(parts, "RDMA unknown")
}

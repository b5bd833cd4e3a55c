package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// onTerminal are the colours of the command line, by those of the page.
var onTerminal = map[string]string{"good": "\x1b[32m", "accent": "\x1b[32m", "warn": "\x1b[33m", "bad": "\x1b[31m", "plain": ""}

// macWords are the facts of a Mac in words; - or – is what is not known.
type macWords struct {
	memory, onPage, last string // the last without what is in use, which is not known of one that is away
	use, watts, heat     string
	flops, onCard, band  string
}

func (f *randomFacts) words() macWords {
	orDash := func(known bool, text string) string { return either(known, text, "–") }
	w := macWords{memory: "unknown", onPage: "–", last: "–", flops: "not measured", onCard: "–", band: "–"}
	if f.totalMB >= 0 {
		ram := either(f.kind == api.GPUMemoryDedicated || f.kind == api.GPUMemoryNone, " RAM", "")
		w.last = gigabytesOf(f.totalMB) + " GB" + ram
		w.memory, w.onPage = binary(f.usedMB)+" of "+binary(f.totalMB)+ram+" used", gigabytesOf(f.usedMB)+" of "+w.last
		if f.workingGB >= 0 {
			own := fmt.Sprintf("%d GB GPU memory, ", f.workingGB)
			w.memory, w.onPage, w.last = binary(1024*f.workingGB)+" GPU memory, "+w.memory, own+w.onPage, own+w.last
		}
		w.memory += either(f.pressure == "normal", "", ", pressure "+string(f.pressure))
	}
	w.use = orDash(f.use >= 0, percents(f.use))
	w.watts = orDash(f.watts >= 0, fmt.Sprintf("%d W", halfUp(f.watts)))
	w.heat = orDash(f.celsius >= 0, fmt.Sprintf("%d °C", halfUp(f.celsius)))
	if f.tflops >= 0 {
		w.flops, w.onCard, w.band = three(f.tflops)+" TFLOPS", pageThree(f.tflops)+" TFLOPS", decimal(f.gigabytesPerS)
	}
	return w
}

// wantMacs is what is to be screenTexts of the Macs, in the menu and the terminal.
func (d *drawnCluster) wantMacs(s screenTexts) {
	for i, n := range d.list.Nodes {
		f := &d.macs[i].randomFacts
		w, id, isHere := f.words(), n.Node, f.isHere()
		name, cell := fmt.Sprintf("m%d", i), func(text string) string { return either(isHere, strings.Replace(text, "–", "-", 1), "-") }
		row := name + either(i == 0, " *", "")
		of := func(known bool, text string) string { return either(known, text, "") }

		state := either(isHere, "alive", string(f.state.liveness)+" "+span(f.stateS)+": "+f.state.text)
		for _, screen := range []string{"nodes", "top"} {
			s.add(state, "%s %s STATE (SIMULATED)", screen, row)
			s.add(onTerminal[f.state.tone], "%s %s STATE (SIMULATED) colour", screen, row)
		}
		s.add(w.memory+either(isHere, "", ", stale"), "nodes %s MEMORY", row)
		s.add(name+"  "+id.Display()+"  SIMULATED", "node %s: node", id)
		s.add(state+either(isHere, "", ", stale"), "node %s: state", id)
		s.add(w.memory, "node %s: memory", id)
		s.add(either(f.tflops >= 0, w.flops+" fp16, "+w.band+", measured "+cliAgo(60*f.agoMin), "not measured yet; to measure it: fulmen measure gpu"), "node %s: GPU", id)
		s.add(either(isHere, w.memory, "unknown"), "top %s MEMORY", row)
		s.add(of(isHere && f.totalMB >= 0, w.onPage+" used"), "menu node:%s:memory", id)
		s.add(cell(w.use), "top %s GPU", row)
		s.add("-", "top %s CPU", row)
		power := either(f.watts >= 0 || f.source != api.PowerBattery, w.watts, "")
		if f.source == api.PowerBattery {
			power = written(", ", power, "battery "+percents(f.battery))
		}
		s.add(cell(power), "top %s POWER", row)
		s.add(cell(string(f.heat)+of(f.celsius >= 0, ", "+w.heat)), "top %s HEAT", row)
		s.add(of(isHere && f.celsius >= 0, "GPU "+w.heat), "menu node:%s:temperature", id)
		s.add(w.flops, "nodes %s GPU", row)
		s.add(of(f.tflops >= 0, either(f.tflops < 9.95, w.flops, fmt.Sprintf("%d TFLOPS", halfUp(f.tflops)))+", memory "+w.band), "menu node:%s:gpu", id)
		s.add(cmp.Or(f.chip, "unknown"), "nodes %s CHIP", row)
		s.add(f.chip, "menu node:%s:model", id)
		s.add(id.Display(), "nodes %s ID", row)
		s.add("macOS 26."+either(d.macs[i].hasDriver, "2", "1"), "menu node:%s:system", id)
		s.add("Simulated: no real hardware behind it", "menu node:%s:simulated", id)

		words := strings.Replace(f.state.menu, "%s", minutes(f.stateS), 1)
		if isHere {
			words = written(", ", of(f.use >= 0, "GPU "+w.use), of(f.watts >= 0, w.watts), of(f.battery >= 0, either(f.source == api.PowerBattery, "on battery, "+percents(f.battery), "on power")))
			words = written(", ", words, d.strainOf(id))
			words = written(", ", either(words == "" && f.totalMB >= 0, w.onPage, words), "simulated")
		}
		s.add(name+either(i == 0, " (this Mac)", "")+"   "+words, "menu node:%s", id)
	}
}

// wantPicture is what is to be screenTexts of the Macs in the picture of the page, and beside it.
func (d *drawnCluster) wantPicture(s screenTexts) {
	for i, n := range d.list.Nodes {
		f := &d.macs[i].randomFacts
		if f.state.liveness == api.LivenessLeft {
			continue // it is no part of the picture
		}
		w, id, isHere, isSelf, name := f.words(), n.Node, f.isHere(), i == 0, fmt.Sprintf("m%d", i)
		of := func(known bool, text string) string { return either(known, text, "") }
		now := func(text string) string { return either(isHere, text, "–") }
		severity, jobs, strain := d.severityOf(id), d.jobsOn(id), d.strainOf(id)

		s.add(either(isHere, w.onPage, w.last), "card %s /Memory", id)
		s.add(now(w.use), "card %s /GPU", id)
		s.add(now(w.heat), "card %s /Temperature", id)
		s.add(now(w.watts), "card %s /Power", id)
		s.add(w.onCard, "card %s /fp16", id)
		s.add(w.band, "card %s /Memory bandwidth", id)
		s.add(written("\n", name, f.chip, of(!isHere, "[trouble]"+f.state.text+"."), of(strain != "", "[trouble]"+strings.ToUpper(strain[:min(1, len(strain))])+strain[min(1, len(strain)):]), of(jobs != nil, "Runs "+strings.Join(jobs, ", "))), "card %s", id)

		load := written(" · ", w.use, w.heat, w.watts)
		load = either(load == "– · – · –", "load not known", "GPU "+load)
		pill := either(len(jobs) > 1, fmt.Sprintf("%d jobs", len(jobs)), strings.Join(jobs, ""))
		sign := map[api.Severity]string{api.SeverityError: "has a problem", api.SeverityWarning: "has a warning"}[severity]
		spoken := written(", ", name, of(isSelf, "this Mac"), "simulated", either(isHere, "memory "+w.onPage, f.state.page), of(isHere && f.use >= 0, "GPU "+w.use), strain, of(pill != "", "runs "+pill), sign)
		fill := of(isHere && f.totalMB >= 0, either(f.pressure == "normal", "[memory]", "[memory short]"))
		can := either(f.tflops >= 0, w.onCard+" · "+w.band, "not measured")
		s.add(written("\n", spoken, fill, pill, name, either(isHere, w.onPage, f.state.page), of(isHere, load), cmp.Or(strain, can), of(sign != "", "[sign "+string(severity)+"]")), "mac %s", id)

		section, orWhy := either(isHere, "Now", "Last known"), func(text string) string { return either(text == "–", "The simulated scenario does not say", text) }
		s.add(orWhy(w.onPage), "panel %s %s/Memory", id, section)
		s.add(orWhy(w.use), "panel %s %s/GPU", id, section)
		s.add(orWhy(w.watts), "panel %s %s/Power", id, section)
		s.add(orWhy(w.heat), "panel %s %s/Temperature", id, section)
		s.add(string(f.heat), "panel %s %s/Heat", id, section)
		s.add(either(f.tflops >= 0, w.onCard, "Not measured yet"), "panel %s Measured/fp16 compute", id)
		s.add(either(f.tflops >= 0, w.band, "Not measured yet"), "panel %s Measured/Memory bandwidth", id)
		s.add(of(f.tflops >= 0, pageAge(60*f.agoMin)), "panel %s Measured/When", id)
		s.add("macOS 26."+either(d.macs[i].hasDriver, "2 (25C56)", "1 (25B78)"), "panel %s Facts/System", id)
		for _, fact := range []string{"Processor", "GPU", "MLX"} {
			s.add("Unknown", "panel %s Facts/%s", id, fact)
		}
		s.add("1.0.0", "panel %s Facts/Fulmen", id)
		s.add(either(isHere, "26 h 3 min", "Unknown"), "panel %s Facts/Runs for", id)
		s.add(id.Display(), "panel %s Facts/Id", id)
		badges := "[badge " + f.state.tone + "]" + f.state.page + of(isSelf, " [badge plain]This Mac") + " [badge warn]Simulated" + of(jobs != nil, " "+strings.Join(jobs, " "))
		bar := ""
		if f.totalMB >= 0 {
			tone := map[api.Pressure]string{"normal": "accent", "warning": "warn", "critical": "bad"}[f.pressure]
			bar = fmt.Sprintf("[bar %s %d]", tone, halfUp(100*float64(f.usedMB)/float64(f.totalMB)))
		}
		began := d.now.Add(-time.Duration(f.stateS) * time.Second)
		away := of(!isHere, f.state.text+". Since "+began.Format("15:04:05")+". What follows is what was last known.")
		wrong := d.conditionsOn(func(c api.NodeCondition) bool {
			return c.Node == id || c.Subject != "" && (slices.Contains(c.Others, id) || strings.Contains(c.Subject, string(id)))
		})
		s.add(written("\n", name, f.chip, badges, away, of(wrong != "", "What is wrong\n"+wrong), bar), "panel %s", id)
	}
}

// written are texts that say something, in one.
func written(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), between)
}

// pageThree is a number without the zeros that say nothing, as the page has it.
func pageThree(v float64) string {
	if v < 9.995 {
		return trimZeros(three(v))
	}
	return three(v)
}

// jobsOn are the names of the jobs with a rank on a Mac.
func (d *drawnCluster) jobsOn(id api.NodeID) (names []string) {
	for _, j := range d.jobs {
		if !j.Phase.Ended() && slices.Contains(j.Nodes, id) {
			names = append(names, j.Name)
		}
	}
	return names
}

// strainOf is what a Mac suffers from, in a few words.
func (d *drawnCluster) strainOf(id api.NodeID) string {
	var all []string
	for _, c := range d.conditions {
		if c.Node == id {
			all = append(all, strainWords[c.Code])
		}
	}
	return written(", ", all...)
}

// severityOf is how bad it is about a Mac itself.
func (d *drawnCluster) severityOf(id api.NodeID) (worst api.Severity) {
	for _, c := range d.conditions {
		if (c.Subject == string(id) || c.Subject == "" && c.Node == id) && slices.Index(severities, c.Severity) > slices.Index(severities, worst) {
			worst = c.Severity
		}
	}
	return worst
}

var severities = []api.Severity{"", api.SeverityInfo, api.SeverityWarning, api.SeverityError}

// conditionsOn are conditions as the page lists them.
func (d *drawnCluster) conditionsOn(isShown func(api.NodeCondition) bool) string {
	var all []string
	words := map[api.Severity]string{api.SeverityInfo: "[badge plain]Note", api.SeverityWarning: "[badge warn]Warning", api.SeverityError: "[badge bad]Problem"}
	for _, c := range d.conditions {
		if isShown(c) {
			all = append(all, words[c.Severity]+" "+d.names(append([]api.NodeID{c.Node}, c.Others...))+" · "+pageAge(d.seconds(c.Since)))
			all = append(all, c.Text, c.Remedy)
			if c.Action != nil {
				all = append(all, c.Action.Label+": "+c.Action.Target)
			}
			if strings.Contains(c.Subject, ":") {
				all = append(all, "Show the cable")
			}
		}
	}
	return written("\n", all...)
}

// wantHeadline is what is to be screenTexts of how the cluster is: the worst that is wrong,
// who is silent before all else. Where nothing is wrong there are no cables here.
func (d *drawnCluster) wantHeadline(s screenTexts) {
	macs, here, silent, text := 0, 0, []string{}, ""
	for i := range d.macs {
		switch {
		case d.macs[i].isHere():
			macs, here = macs+1, here+1
		case d.macs[i].state.liveness != api.LivenessLeft:
			macs++
		}
	}
	worst := d.worst()
	for _, c := range d.conditions {
		name := d.named(string(c.Node))
		if c.Severity != api.SeverityInfo && !d.macs[slices.Index(d.ids, c.Node)].isHere() && !slices.Contains(silent, name) {
			silent = append(silent, name)
		}
	}
	switch {
	case worst == nil && macs == 1:
		text = "Healthy: this Mac alone"
	case worst == nil:
		text = "Healthy: " + either(here < macs, fmt.Sprintf("%d of %d Macs connected", here, macs), fmt.Sprintf("%d Macs", macs)) + ", no Thunderbolt cables"
	case len(silent) > 1:
		text = fmt.Sprintf("%d of %d Macs do not answer: %s.", len(silent), macs, strings.Join(silent, ", "))
	default:
		name := d.named(string(worst.Node))
		text = either(macs == 1 || strings.Contains(worst.Text, name), "", name+": ") + worst.Text
	}
	text += " (SIMULATED)"
	s.add(text, "page cluster /headline")
	s.add(text, "menu headline")
	if worst == nil {
		s.add(text, "status headline")
		return
	}
	action := ""
	if worst.Action != nil && worst.Action.Kind == api.ActionCommand {
		action = worst.Action.Label + ": " + worst.Action.Target
	}
	s.add(written("\n", text, worst.Remedy, action), "status headline")
	s.add(ninety(worst.Remedy), "menu headline:remedy")
}

// worst is what the headline is about; nil where nothing is wrong.
func (d *drawnCluster) worst() (worst *api.NodeCondition) {
	isSilent := func(c *api.NodeCondition) bool { return !d.macs[slices.Index(d.ids, c.Node)].isHere() }
	for i := range d.conditions {
		c := &d.conditions[i]
		if c.Severity != api.SeverityInfo && (worst == nil || isSilent(c) && !isSilent(worst)) {
			worst = c
		}
	}
	return worst
}

// ninety is what the menu has of a long text; the whole of it is in the dashboard.
func ninety(text string) string {
	all := []rune(text)
	if len(all) > 90 {
		return string(append(all[:89], '…'))
	}
	return text
}

// wantConditions is what is to be screenTexts of what is wrong.
func (d *drawnCluster) wantConditions(s screenTexts) {
	s.add(cmp.Or(d.conditionsOn(func(api.NodeCondition) bool { return true }), "Nothing is wrong."), "page conditions")
	var lines []string
	isWorking, icon := false, "normal"
	worst, others := d.worst(), 0
	for i, c := range d.conditions {
		if worst == &d.conditions[i] {
			icon = "warning"
			continue
		}
		others++
		name := d.named(string(c.Node))
		where := either(strings.Contains(c.Text, name), "", name+": ")
		lines = append(lines, string(c.Severity)+" "+where+c.Text)
		if c.Remedy != "" {
			lines = append(lines, c.Remedy)
		}
		if c.Severity != api.SeverityInfo {
			icon = "warning"
			key := fmt.Sprintf("menu condition:%s:%s:%s", c.Node, c.Code, c.Subject)
			s.add("! "+either(c.Node == d.list.Nodes[0].Node, "", where)+c.Text, "%s", key)
			s.add(ninety(c.Remedy), "%s:remedy", key)
		}
	}
	for _, j := range d.jobs {
		isWorking = isWorking || slices.Contains([]api.JobPhase{api.JobStarting, api.JobHandshake, api.JobRunning, api.JobEnding, api.JobHomeLost}, j.Phase)
	}
	for _, p := range d.pending {
		icon = either(p.State == api.PendingAsking || p.State == api.PendingProving, "warning", icon)
	}
	if icon == "normal" && isWorking {
		icon = "working"
	}
	s.add(icon, "menu icon")
	if others > 0 {
		s.add(strings.Join(append([]string{either(others == 1, "One thing to know:", fmt.Sprintf("%d things to know:", others))}, lines...), "\n"), "status conditions")
	}
	if len(d.conditions) == 0 {
		return
	}
	s.add(either(len(d.conditions) == 1, "1 thing", fmt.Sprintf("%d things", len(d.conditions)))+" to know: fulmen status", "top conditions")
}

// wantTotals is what is to be screenTexts of all Macs that are reached.
func (d *drawnCluster) wantTotals(s screenTexts) {
	nodes, members, measured, powered := 0, len(d.macs), 0, 0
	total, used, bandwidth, hasTotal := 0, 0, 0, false
	flops, watts := 0.0, 0.0
	other, otherNodes := map[api.GPUMemory]int{}, map[api.GPUMemory]int{}
	for i := range d.macs {
		f := &d.macs[i].randomFacts
		if !f.isHere() {
			continue
		}
		nodes++
		switch {
		case f.kind == api.GPUMemoryUnified && f.totalMB >= 0:
			total, used, hasTotal = total+f.totalMB, used+f.usedMB, true
		case f.kind == api.GPUMemoryUnified:
		case f.kind == api.GPUMemoryDedicated && f.workingGB >= 0:
			other[f.kind], otherNodes[f.kind] = other[f.kind]+1024*f.workingGB, otherNodes[f.kind]+1
		case f.kind != api.GPUMemoryDedicated && f.totalMB >= 0:
			other[f.kind], otherNodes[f.kind] = other[f.kind]+f.totalMB, otherNodes[f.kind]+1
		}
		if f.tflops >= 0 {
			measured, flops, bandwidth = measured+1, flops+f.tflops, bandwidth+f.gigabytesPerS
		}
		if f.watts >= 0 {
			powered, watts = powered+1, watts+f.watts
		}
	}
	of := func(count int) string {
		switch {
		case count < nodes:
			return fmt.Sprintf("%d of %d Macs", count, nodes)
		case nodes == 1:
			return "this Mac"
		}
		return fmt.Sprintf("all %d Macs", nodes)
	}
	var others, onPage []string
	for _, kind := range []api.GPUMemory{"", api.GPUMemoryDedicated, api.GPUMemoryNone} {
		if n := otherNodes[kind]; n > 0 {
			words := map[api.GPUMemory]string{"": "memory (kind unknown)", api.GPUMemoryDedicated: "GPU memory", api.GPUMemoryNone: "RAM"}[kind] + " of " + either(n == 1, "1 machine", fmt.Sprintf("%d machines", n))
			others, onPage = append(others, binary(other[kind])+" "+words), append(onPage, gigabytesOf(other[kind])+" GB "+words)
		}
	}
	power := fmt.Sprintf("%d W", halfUp(watts))

	cli := []string{fmt.Sprintf("%d of %d nodes", nodes, members)}
	var menu []string
	if d.worst() != nil {
		menu = []string{either(nodes < members, fmt.Sprintf("%d of %d Macs", nodes, members), fmt.Sprintf("%d Macs", nodes))}
	}
	memory, note := "–", onPage
	if measured > 0 {
		menu = append(menu, either(flops < 9.95, three(flops), fmt.Sprint(halfUp(flops)))+" TFLOPS")
	}
	switch {
	case hasTotal:
		memory = gigabytesOf(used) + " of " + gigabytesOf(total) + " GB"
		note = append([]string{"in use"}, onPage...)
	case others == nil:
		note = []string{"not known yet"}
	}
	if hasTotal {
		cli = append(cli, binary(total)+" of unified memory")
		menu = append(menu, memory+either(others != nil, " unified", ""))
	} else if others == nil {
		cli = append(cli, "memory unknown")
	}
	cli, menu = append(cli, others...), append(menu, onPage...)
	compute, band, powerOnPage := "– not measured yet", "– not measured yet", "– not known yet"
	if measured > 0 {
		cli = append(cli, three(flops)+" TFLOPS, "+decimal(bandwidth)+either(measured < nodes, fmt.Sprintf(" (%d measured)", measured), ""))
		compute, band = pageThree(flops)+" TFLOPS measured on "+of(measured), decimal(bandwidth)+" measured on "+of(measured)
		if bandwidth >= 1000 {
			band = pageThree(float64(bandwidth)/1000) + " TB/s measured on " + of(measured)
		}
	}
	if powered > 0 {
		cli = append(cli, power+either(powered < nodes, fmt.Sprintf(" (of %d)", powered), ""))
		menu, powerOnPage = append(menu, power), power+" "+of(powered)
	}
	line := strings.Join(append(cli, "SIMULATED"), ", ") + "."
	s.add(line, "status totals")
	s.add(line, "top totals")
	s.add(strings.Join(menu, " | "), "menu summary")
	s.add("fp16 compute "+compute, "page cluster /compute")
	s.add("Memory bandwidth "+band, "page cluster /bandwidth")
	bar := ""
	if hasTotal {
		ratio := float64(used) / float64(total)
		bar = fmt.Sprintf(" [bar %s %d]", either(ratio > 0.9, "warn", "accent"), halfUp(100*ratio))
	}
	s.add("Unified memory "+memory+bar+" "+strings.Join(note, ", "), "page cluster /memory")
	s.add("Power "+powerOnPage, "page cluster /power")
}

package api

import (
	"encoding"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Harmless reports whether a text may be shown to strangers: by its type, where that
// is a time, an id or a closed set of words, or by the form that its place has in the
// table below. A place is a field as TYPE.JSON_NAME, the keys of a map TYPE.JSON_NAME{},
// or a value in the daemon's log as log.NAME. Whatever is not listed is not harmless:
// a field that is new, a kind or word of a newer version.
//
// Node, job and measurement ids are random or made from a key, and name nobody. A
// cluster id is not harmless: who has it recognises the cluster's announcements.
func Harmless(t reflect.Type, place, s string) bool {
	if s == "" {
		return true
	}
	if t != nil {
		switch v := reflect.New(t).Interface().(type) {
		case *Time, *NodeID, *JobID, *MeasureID, *RankRef, *LinkEnd, *LinkID:
			return v.(encoding.TextUnmarshaler).UnmarshalText([]byte(s)) == nil
		case *Reason:
			return isReason(s)
		case Enum:
			return slices.Contains(v.Values(), s)
		}
	}
	form := harmless()[place]
	return form != nil && form(s)
}

// harmless is the table of the places whose text is harmless where it has a form.
// A form leaves no room for what a person chose.
var harmless = sync.OnceValue(func() map[string]func(string) bool {
	const (
		version = `\d{1,4}(\.\d{1,4}){1,2}(-(dev|alpha|beta|rc)(\.?\d{1,3})?)?`
		iface   = `(lo|en|eth|wlan|wl|bridge|br|utun|awdl|llw|ap|anpi|ipsec|gif|stf|vmenet|thunderbolt|veth|tun|tap)\d{0,3}`
		chip    = `Apple M\d{1,2}( (Pro|Max|Ultra))?`
		model   = `(Mac (Studio|mini|Pro)|MacBook (Air|Pro)|iMac)( \((\d\d-inch, )?((Early|Mid|Late|Nov) )?20\d\d\))?`
		build   = `\d\d[A-Z]\d{1,5}[a-z]?`
		route   = `0x[0-9a-f]{1,12}`
		vendor  = `Apple( Inc\.)?`
		service = `(Fulmen )?Thunderbolt (Bridge|\d{1,2})|Wi-Fi|Ethernet( \d{1,2})?`
		number  = `-?\d{1,9}`
		span    = `(\d{1,9}(\.\d{1,9})?(ns|us|µs|ms|s|m|h)){1,3}`
		level   = `debug|info|warn|error`
		area    = `identity|memory|system|network|thunderbolt|rdma`
	)
	return map[string]func(string) bool{
		"Identity.architecture":   form(`arm64|aarch64|amd64|x86_64`),
		"Identity.model":          form(`(Mac|MacBook|MacBookPro|MacBookAir|Macmini|MacPro|iMac|iMacPro)\d{1,2},\d{1,2}`),
		"Identity.model_name":     form(model),
		"Identity.chip":           form(chip),
		"Identity.os_name":        form(`macOS|Linux|Debian GNU/Linux|Ubuntu|Fedora Linux`),
		"Identity.os_version":     form(`\d{1,3}(\.\d{1,3}){0,2}`),
		"Identity.os_build":       form(build),
		"Identity.gpu_name":       form(chip),
		"Identity.mlx_version":    form(version),
		"Identity.fulmen_version": form(version),

		"Document.unknown{}":        either(isField, form(route+`|`+iface)),
		"Interface.name":            form(iface),
		"Interface.display_name":    form(service),
		"Interface.bridge":          form(iface),
		"Interface.members":         form(iface),
		"Network.primary_interface": form(iface),
		"NetworkService.name":       form(service),
		"PathView.interface":        form(iface),
		"Pending.interface":         form(iface),
		"Pending.model_name":        form(model),
		"Reach.interface":           form(iface),
		"Reach.peer_interface":      form(iface),

		"Interface.bridge_configured": form(iface),

		"Fan.name":              form(`\d{1,2}|left|right`),
		"Thunderbolt.place":     form(`(front|back|left|right|middle)(-(front|back|left|right|middle)){0,2}`),
		"Thunderbolt.interface": form(iface),
		"ThunderboltHub.route":  form(route),
		"ThunderboltHub.parent": form(route),
		"ThunderboltHub.vendor": form(vendor),
		"ThunderboltPeer.hub":   form(route),
		"RDMADevice.name":       form(`rdma_` + iface),
		"RDMADevice.interface":  form(iface),
		"RDMAChange.interface":  form(iface),

		"ThunderboltPeer.vendor": form(vendor),

		"GPUProfile.device_name":        form(chip),
		"LinkProfile.interface":         form(iface),
		"MeasureConditions.os_build":    form(build),
		"MeasureConditions.mlx_version": form(version),
		"MeasureConditions.blas":        form(`accelerate|openblas|reference`),
		"MeasureItem.waiting_for":       isID,

		"Condition.subject":     isID,
		"Action.target":         isMethod,
		"ErrorData.subject":     isID,
		"ErrorData.waiting_for": either(isID, isMethod),
		"Cause.subject":         isID,
		"Job.waiting_for":       isID,
		"Grant.waiting_for":     isID,
		"Plan.devices":          form(`rdma_` + iface),
		"Rank.versions{}":       form(`python|mlx|mlx[-_]lm|numpy`),
		"Rank.versions":         form(version),

		"DaemonInfoResult.version":    form(version),
		"DaemonInfoResult.go_version": form(`go1\.\d{1,3}(\.\d{1,3})?`),
		"FeatureInfo.feature":         form(`clock|discovery|supervisor|power_notices|keep_awake|network_service|bridge_membership|(facts|hints)\.(` + area + `)`),
		"DoctorCheck.check": form(`api_file|blas|bridge_loop|cable|config|daemon|events|hardware|health|mlx|socket|state|` +
			`system_profiler|thunderbolt|trust|version|worker`),
		"ConfigKey.key":     form(`(api|peers|network|log|log\.levels|times|measure|limits|paths)\.[a-z]+(_[a-z]+)?`),
		"ConfigKey.value":   form(level + `|` + span),
		"ConfigKey.default": form(level + `|` + span),

		"log.node": isID, "log.peer": isID, "log.job": isID, "log.rank": either(isID, form(number)), "log.link": isID, "log.end": isID,
		"log.reason": isReason, "log.code": isReason, "log.condition": isReason, "log.kind": isWord, "log.phase": isWord, "log.state": isWord,
		"log.area": form(area), "log.method": isMethod, "log.version": form(version), "log.level": form(level),
		"log.interface": form(iface), "log.peer_interface": form(iface), "log.receptacle": form(number), "log.port": form(number),
		"log.uid": form(number), "log.n": form(number), "log.more": form(number), "log.bytes": form(number), "log.documents": form(number),
		"log.ranks": form(number), "log.exit_code": form(number), "log.attempt": form(number), "log.pid": form(number), "log.again_in": form(span),
	}
})

// form accepts what a regular expression matches as a whole.
func form(expression string) func(string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString
}

func either(a, b func(string) bool) func(string) bool {
	return func(s string) bool { return a(s) || b(s) }
}

func isReason(s string) bool { _, ok := LookupReason(Reason(s)); return ok }

func isMethod(s string) bool { return spelling().methods[s] }

// isWord reports whether s is of any closed set of words in documents.
func isWord(s string) bool { return spelling().words[s] }

// isField reports whether s is the name of a field of documents.
func isField(s string) bool { return spelling().fields[s] }

// isID reports whether s is the id of a node, job, measurement, rank, cable's end or cable.
func isID(s string) bool {
	if id, err := ParseNodeID(s); err == nil {
		return s == string(id) || s == id.Display()
	}
	for _, rule := range []NameRule{NameJob, NameHolder, NameLink} {
		if rule.Check(s) == nil {
			return true
		}
	}
	return new(LinkEnd).UnmarshalText([]byte(s)) == nil
}

type spellings struct{ words, fields, methods map[string]bool }

// spelling is what the types of documents and the table of methods spell out.
var spelling = sync.OnceValue(func() spellings {
	all := spellings{words: map[string]bool{}, fields: map[string]bool{}, methods: map[string]bool{}}
	for _, m := range slices.Concat(Methods(), PeerMethods()) {
		all.methods[m.Name] = true
	}
	seen := map[reflect.Type]bool{}
	for _, info := range Kinds() {
		all.fields[string(info.Kind)] = true
		all.learn(info.Value, seen)
	}
	all.learn(reflect.TypeFor[Kind](), seen)
	return all
})

func (all spellings) learn(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if e, ok := reflect.Zero(t).Interface().(Enum); ok {
		for _, w := range e.Values() {
			all.words[w] = true
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		all.learn(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				all.fields[name] = true
				all.learn(f.Type, seen)
			}
		}
	}
}

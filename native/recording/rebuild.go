package recording

import (
	"fmt"
	"path/filepath"
	"strings"

	"fulmen/native"
	"fulmen/native/darwin"
	"fulmen/native/networksetup"
	"fulmen/native/sim/scenario"
)

// File is a recording as it was kept.
type File struct {
	// Name is the file's; the Mac is called by it, without folder and ending.
	Name string
	Data []byte
}

// maxMacName is the longest name that a scenario's Mac may have.
const maxMacName = 63

// Rebuild makes a scenario of recordings of several Macs, or of one that was recorded
// whole. Each Mac has a file of the kind [KindMac] or [KindThunderbolt]; after the latter
// one of the kind [KindHardwarePorts] names its interfaces. The notes say what was odd
// in the files and what the scenario had to leave out.
func Rebuild(name string, files []File) (scenario.Scenario, []string, error) {
	var recordings []scenario.Recording
	var notes []string
	for _, file := range files {
		kind, facts, remarks, err := Describe(file.Name, file.Data)
		if err != nil {
			return scenario.Scenario{}, nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		for _, remark := range remarks {
			notes = append(notes, file.Name+": "+remark)
		}
		switch {
		case kind == KindMac:
			whole, err := wholeMac(file)
			if err != nil {
				return scenario.Scenario{}, nil, fmt.Errorf("%s: %w", file.Name, err)
			}
			recordings = append(recordings, whole)
		case kind == KindThunderbolt:
			recordings = append(recordings, scenario.Recording{Mac: macName(file.Name), Thunderbolt: facts.(native.Thunderbolt)})
		case kind == KindHardwarePorts && len(recordings) > 0:
			last := &recordings[len(recordings)-1]
			if last.Interfaces != nil {
				return scenario.Scenario{}, nil, fmt.Errorf("%s: %s has a list of hardware ports already", file.Name, last.Mac)
			}
			last.Interfaces = interfaces(facts.(networksetup.HardwarePorts))
		default:
			return scenario.Scenario{}, nil, fmt.Errorf("%s is %s, but a scenario is made from recordings of the kinds %s and %s, the latter followed by the %s of the same Mac if there is one",
				file.Name, kind, KindMac, KindThunderbolt, KindHardwarePorts)
		}
	}
	made, err := scenario.FromRecordings(name, recordings)
	return made, append(notes, made.Notes...), err
}

// wholeMac reads the recording of a whole Mac.
func wholeMac(file File) (scenario.Recording, error) {
	read, err := darwin.ParseRecording(file.Data)
	if err != nil {
		return scenario.Recording{}, err
	}
	facts := read.Facts()
	whole := &scenario.WholeMac{Identity: read.Identity(), Interfaces: read.Known()}
	out := scenario.Recording{Mac: macName(file.Name), Whole: whole}
	if facts.Thunderbolt != nil {
		out.Thunderbolt = *facts.Thunderbolt
	}
	if facts.RDMA != nil {
		whole.RDMA = *facts.RDMA
	}
	if facts.Network != nil {
		whole.Bridges = facts.Network.Bridges
	}
	return out, nil
}

func interfaces(ports networksetup.HardwarePorts) map[int]string {
	names := map[int]string{}
	for _, port := range ports.Ports {
		if port.PortNumber != nil {
			names[*port.PortNumber] = port.Device
		}
	}
	return names
}

// macName makes a name for a Mac of a file's: small letters, digits, dashes.
func macName(file string) string {
	base, _, _ := strings.Cut(filepath.Base(file), ".")
	words := strings.FieldsFunc(strings.ToLower(base), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return strings.Trim(name[:min(len(name), maxMacName)], "-")
}

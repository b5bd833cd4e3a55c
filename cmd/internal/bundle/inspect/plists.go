package inspect

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"fulmen"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/daemon/api"
	"fulmen/native/plist"
)

// Info lists what is wrong with an Info.plist.
func Info(text []byte) []string {
	info, fault := dict(text)
	if info == nil {
		return fault
	}
	faults := differ(info, map[string]any{
		"CFBundleIdentifier": api.BundleID, "CFBundleExecutable": api.BundleExecutable, "CFBundleName": "Fulmen", "CFBundleDisplayName": "Fulmen",
		"CFBundlePackageType": "APPL", "CFBundleIconFile": layout.Icon, "CFBundleInfoDictionaryVersion": "6.0",
		"CFBundleShortVersionString": fulmen.Version(), "CFBundleVersion": fulmen.Version(),
		"CFBundleSupportedPlatforms": []any{"MacOSX"}, "LSMinimumSystemVersion": api.MinMacOS, "LSUIElement": true, "NSHighResolutionCapable": true,
		"NSBonjourServices": []any{api.ServiceType},
		"CFBundleURLTypes": []any{map[string]any{
			"CFBundleURLName": "org.fulmen.link", "CFBundleURLSchemes": []any{api.LinkScheme}, "CFBundleTypeRole": "Viewer",
		}},
	})
	// What people read is not compared, but has to be there.
	for _, key := range []string{"NSLocalNetworkUsageDescription", "NSHumanReadableCopyright", "LSApplicationCategoryType", "CFBundleDevelopmentRegion"} {
		if value, _ := info[key].(string); value == "" {
			faults = append(faults, key+" is missing or empty")
		}
	}
	if !regexp.MustCompile(`^[0-9]+(\.[0-9]+){2}$`).MatchString(fulmen.Version()) {
		faults = append(faults, "the version "+fulmen.Version()+" is not three numbers")
	}
	return faults
}

// Job lists what is wrong with the daemon's launchd job: in the bundle its
// program stands under BundleProgram, outside under Program.
func Job(text []byte, programKey, program string) []string {
	job, fault := dict(text)
	if job == nil {
		return fault
	}
	faults := differ(job, map[string]any{
		"Label": api.DaemonLabel, programKey: program, "ProgramArguments": []any{path.Base(program), "run", "-quiet"},
		"AssociatedBundleIdentifiers": []any{api.BundleID}, "RunAtLoad": true, "KeepAlive": map[string]any{"SuccessfulExit": false},
		"AbandonProcessGroup": true, "ProcessType": "Interactive", "Umask": int64(0o022),
		"StandardErrorPath": path.Join(path.Dir(api.MacLogFolder), "fulmend.err"),
		"Sockets": map[string]any{
			api.ActivationTCP:  map[string]any{"SockNodeName": "127.0.0.1", "SockServiceName": strconv.Itoa(api.APIPort), "SockFamily": "IPv4", "SockType": "stream"},
			api.ActivationUnix: map[string]any{"SockPathName": api.LaunchdSocket, "SockPathMode": int64(0o666), "SockType": "stream"},
		},
	})
	for _, key := range []string{"Program", "BundleProgram", "UserName", "Disabled", "EnvironmentVariables", "LimitLoadToSessionType"} {
		if _, there := job[key]; there && key != programKey {
			faults = append(faults, "has "+key)
		}
	}
	if constraint, there := job["SpawnConstraint"].(map[string]any); there {
		team, _ := constraint["team-identifier"].(string)
		if !regexp.MustCompile(`^[A-Z0-9]{10}$`).MatchString(team) || constraint["signing-identifier"] != api.DaemonLabel || len(constraint) != 2 {
			faults = append(faults, fmt.Sprintf("the launch constraint %v does not name the daemon and a team", constraint))
		}
	}
	return faults
}

func dict(text []byte) (map[string]any, []string) {
	v, err := plist.Parse(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	d, ok := v.(map[string]any)
	if !ok {
		return nil, []string{"is not a dictionary"}
	}
	return d, nil
}

// differ lists the keys whose values are not the wanted ones.
func differ(have, want map[string]any) []string {
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(have[key], want[key]) {
			faults = append(faults, fmt.Sprintf("%s is %v, but the code says %v", key, have[key], want[key]))
		}
	}
	return faults
}

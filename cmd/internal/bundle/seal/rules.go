package seal

// rules say what codesign takes into the list; where several match, the one of
// the greatest weight counts, which is 1 where it says none.
func rules() map[string]any {
	return map[string]any{
		"^.*":                true,
		`^Info\.plist$`:      map[string]any{"omit": true, "weight": 20.0},
		"^PkgInfo$":          map[string]any{"omit": true, "weight": 20.0},
		"^[^/]+$":            map[string]any{"nested": true, "weight": 10.0},
		"^Resources/":        map[string]any{"weight": 20.0},
		`^version\.plist$`:   map[string]any{"weight": 20.0},
		`^(.*/)?\.DS_Store$`: map[string]any{"omit": true, "weight": 2000.0},
		"^(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|Library/(Automator|Spotlight|LoginItems))/": map[string]any{"nested": true, "weight": 10.0},
	}
}

// oldRules are those for systems before 10.9.5.
func oldRules() map[string]any {
	return map[string]any{"^Resources/": true, `^version\.plist$`: true}
}

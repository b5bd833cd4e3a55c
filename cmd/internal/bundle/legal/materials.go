package legal

import (
	"encoding/json"
	"regexp"
	"time"
)

// Component is something of others that is a part of what is shipped.
type Component struct {
	// Name is its module path, or the name of its wheel.
	Name string
	// Version is the version of it, without a letter before it.
	Version string
	// URL is its package URL (purl), by which lists of materials name it.
	URL string
	// SHA256 is the sum of the file it came in; empty where that is not known.
	SHA256 string
	// Licence is the licence's short name by SPDX.
	Licence string
	// Texts are its licence files with their notices, in order of their names.
	Texts []string
}

// Product is what the list of materials is of.
type Product struct {
	// Version is the product's.
	Version string
	// Namespace is an address that no other list has; nothing needs to be there.
	Namespace string
	// Made is when the list is made.
	Made time.Time
}

const (
	documentID = "SPDXRef-DOCUMENT"
	productID  = "SPDXRef-Fulmen"
	noWord     = "NOASSERTION"
)

// notInID are characters that SPDX does not take in an identifier.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// Materials is the list of what the product is made of (a software bill of
// materials), in the JSON of SPDX 2.3.
func Materials(p Product, parts []Component) ([]byte, error) {
	packages := []map[string]any{listed(productID, "Fulmen", p.Version, "Apache-2.0")}
	relation := func(element, kind, related string) map[string]string {
		return map[string]string{"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}
	}
	relations := []map[string]string{relation(documentID, "DESCRIBES", productID)}
	for _, c := range parts {
		one := listed("SPDXRef-"+notInID.ReplaceAllString(c.Name+"-"+c.Version, "-"), c.Name, c.Version, c.Licence)
		one["externalRefs"] = []map[string]string{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": c.URL}}
		if c.SHA256 != "" {
			one["checksums"] = []map[string]string{{"algorithm": "SHA256", "checksumValue": c.SHA256}}
		}
		packages = append(packages, one)
		relations = append(relations, relation(productID, "CONTAINS", one["SPDXID"].(string)))
	}
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": documentID, "name": "Fulmen " + p.Version, "documentNamespace": p.Namespace,
		"creationInfo": map[string]any{"created": p.Made.UTC().Format(time.RFC3339), "creators": []string{"Tool: fulmen-bundle-" + p.Version}},
		"packages":     packages, "relationships": relations,
	}, "", "  ")
	return append(text, '\n'), err
}

// listed is a package of the list.
func listed(id, name, version, licence string) map[string]any {
	return map[string]any{"SPDXID": id, "name": name, "versionInfo": version, "downloadLocation": noWord, "filesAnalyzed": false,
		"licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": noWord}
}

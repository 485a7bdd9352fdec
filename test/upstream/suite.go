// Package upstream pins the version of Karpenter whose regression suite is run against nodewright.
package upstream

// What the suite imports, so that `go mod tidy` keeps its modules.
import (
	_ "sigs.k8s.io/karpenter/test/pkg/debug"
	_ "sigs.k8s.io/karpenter/test/pkg/environment/common"
)

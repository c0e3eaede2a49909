{{/* Values that the schema cannot judge: every fault at once, each as a sentence that says what to write. */}}
{{- define "netfacts.check" -}}
{{- $faults := list -}}
{{- $fullname := include "netfacts.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) -}}
{{- $faults = append $faults (printf "all objects would have names that begin with %s, which Kubernetes refuses for a Service: set fullnameOverride to lower-case letters, digits and hyphens that begin with a letter, or choose such a name for the release" $fullname) -}}
{{- end -}}
{{- if not .Values.nats.url -}}
{{- $faults = append $faults "nats.url is empty: write the URL of your NATS servers, such as nats://nats:4222" -}}
{{- end -}}
{{- with .Values.nats.auth -}}
{{- if and (ne .method "none") (not .existingSecret) -}}
{{- $faults = append $faults (printf "nats.auth.existingSecret is empty: write the name of the Secret with the credentials for the method %s, or set nats.auth.method to none" .method) -}}
{{- end -}}
{{- if and (eq .method "none") .existingSecret -}}
{{- $faults = append $faults "nats.auth.method is none, but nats.auth.existingSecret names a Secret: set the method of its credentials, or leave the Secret out" -}}
{{- end -}}
{{- end -}}
{{- with .Values.nats.tls -}}
{{- if and (or .caSecret .clientSecret) $.Values.nats.url (not (contains "tls://" $.Values.nats.url)) -}}
{{- $faults = append $faults (printf "nats.tls names a Secret, but nats.url does not ask for TLS: write tls:// instead of nats:// in %s, or leave the Secret out" $.Values.nats.url) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.mongodb.existingSecret -}}
{{- $faults = append $faults "mongodb.existingSecret is empty: write the name of the Secret that has the URI of the database" -}}
{{- end -}}
{{- if not .Values.proxyToken.existingSecret -}}
{{- $faults = append $faults "proxyToken.existingSecret is empty: write the name of a Secret that has at least 32 random characters" -}}
{{- end -}}
{{- with .Values.ingest -}}
{{- if and .sources.content .sources.existingConfigMap -}}
{{- $faults = append $faults "ingest.sources.content and ingest.sources.existingConfigMap are both set: set one of them" -}}
{{- end -}}
{{- if .sources.content -}}
{{- $list := fromYaml .sources.content -}}
{{- if hasKey $list "Error" -}}
{{- $faults = append $faults (printf "ingest.sources.content is not a mapping in YAML: %s" (replace "\n" " " $list.Error)) -}}
{{- else if not (kindIs "slice" $list.sources) -}}
{{- $faults = append $faults "ingest.sources.content has no list `sources`: write the text of a sources.yaml" -}}
{{- end -}}
{{- end -}}
{{- if and (eq .volume.type "existingClaim") (not .volume.existingClaim) -}}
{{- $faults = append $faults "ingest.volume.existingClaim is empty: write the name of your claim, or set ingest.volume.type to claim" -}}
{{- end -}}
{{- if and .volume.existingClaim (ne .volume.type "existingClaim") -}}
{{- $faults = append $faults (printf "ingest.volume.existingClaim is %s, but ingest.volume.type is %s, which does not use it: set the type to existingClaim, or leave the claim out" .volume.existingClaim .volume.type) -}}
{{- end -}}
{{- if and (gt (int .replicas) 1) (ne .volume.type "emptyDir") (ne .volume.accessMode "ReadWriteMany") -}}
{{- $faults = append $faults (printf "ingest.replicas is %d, but its volume is %s: set ingest.volume.accessMode to ReadWriteMany, ingest.volume.type to emptyDir, or ingest.replicas to 1" (int .replicas) .volume.accessMode) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- $faults = append $faults "ingress.hosts is empty: write at least one host name" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.parentRefs is empty: write the name of the Gateway that the route belongs to" -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- if not .Values.networkPolicy.mongodb.ports -}}
{{- $faults = append $faults "networkPolicy.mongodb.ports is empty, which Kubernetes takes for every port: write at least one" -}}
{{- end -}}
{{- if not (or .Values.networkPolicy.resolvers.ports .Values.rdnsResolver.resolvers) -}}
{{- $faults = append $faults "networkPolicy.resolvers.ports and rdnsResolver.resolvers are empty, which Kubernetes takes for every port: write at least one port" -}}
{{- end -}}
{{- end -}}
{{- $values := .Values -}}
{{- range $section, $_ := include "netfacts.services" . | fromYaml -}}
{{- $pod := mergeOverwrite (deepCopy $values.defaults) (deepCopy (index $values $section)) -}}
{{- if and $pod.autoscaling.enabled (gt (int $pod.autoscaling.minReplicas) (int $pod.autoscaling.maxReplicas)) -}}
{{- $faults = append $faults (printf "%s.autoscaling.minReplicas is %d, but maxReplicas is %d: write a smaller minReplicas or a greater maxReplicas" $section (int $pod.autoscaling.minReplicas) (int $pod.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- $own := index $values $section -}}
{{- $names := list -}}
{{- range $pod.extraEnv -}}
{{- if has .name $names -}}
{{- $faults = append $faults (printf "extraEnv of %s names %s twice: write it once" $section .name) -}}
{{- else if hasKey (default dict $own.settings) .name -}}
{{- $faults = append $faults (printf "%s.settings and extraEnv both set %s: write it in one of them" $section .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- $volumes := list "tmp" "secrets" -}}
{{- $paths := list "/tmp" "/etc/netfacts" -}}
{{- if eq $section "ingest" -}}
{{- $volumes = concat $volumes (list "data" "sources") -}}
{{- $paths = concat $paths (list "/data" "/sources") -}}
{{- end -}}
{{- range $pod.extraVolumes -}}
{{- if has .name $volumes -}}
{{- $faults = append $faults (printf "extraVolumes of %s has the name %s, which another volume of the pod has: choose another name" $section .name) -}}
{{- end -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- range $pod.extraVolumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- $faults = append $faults (printf "extraVolumeMounts of %s names the volume %s, which extraVolumes does not have: add the volume, or correct the name" $section .name) -}}
{{- end -}}
{{- $path := clean .mountPath -}}
{{- if has $path $paths -}}
{{- $faults = append $faults (printf "extraVolumeMounts of %s has the path %s, where another volume of the pod is: choose another path" $section $path) -}}
{{- end -}}
{{- $paths = append $paths $path -}}
{{- end -}}
{{- end -}}
{{- with $faults -}}
{{- fail (printf "\n\n%s\n" (join "\n" .)) -}}
{{- end -}}
{{- end -}}

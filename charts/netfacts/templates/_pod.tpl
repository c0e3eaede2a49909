{{/* What all pods have in common. */}}

{{- define "netfacts.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "netfacts.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Of a program that runs once: the first import and the test. Give root, component, needs, script and env; `sources` for the list of sources. */}}
{{- define "netfacts.scriptPod" -}}
automountServiceAccountToken: false
# Otherwise Kubernetes sets variables such as INGEST_PORT for each Service.
enableServiceLinks: false
restartPolicy: Never
securityContext: {{- include "netfacts.podSecurity" .root | nindent 2 }}
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .script }}
    image: {{ include "netfacts.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: [/usr/local/bin/node, /scripts/{{ .script }}.mjs]
    env:
      {{- toYaml .env | nindent 6 }}
      {{- include "netfacts.secretEnv" . | trim | nindent 6 }}
    resources: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 256Mi } }
    securityContext: {{- include "netfacts.containerSecurity" .root | nindent 6 }}
    volumeMounts:
      - { name: scripts, mountPath: /scripts, readOnly: true }
      - { name: secrets, mountPath: /etc/netfacts, readOnly: true }
      - { name: tmp, mountPath: /tmp }
      {{- if and .sources (include "netfacts.sourcesMap" .root) }}
      - { name: sources, mountPath: /sources, readOnly: true }
      {{- end }}
volumes:
  - { name: scripts, configMap: { name: {{ include "netfacts.fullname" .root }}-scripts } }
  - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
  {{- if .sources }}
  {{- with include "netfacts.sourcesMap" .root }}
  - { name: sources, configMap: { name: {{ . | quote }} } }
  {{- end }}
  {{- end }}
  - name: secrets
    projected:
      defaultMode: 0440
      sources: {{- include "netfacts.secretSources" . | trim | nindent 8 }}
{{- end -}}

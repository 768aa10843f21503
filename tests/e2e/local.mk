# e2e: run by pytest against a finished build (tests/run-all); here only put into the tarball.
EXTRA_DIST += tests/run-all \
	tests/e2e/agent_run.py tests/e2e/conftest.py tests/e2e/connect_proxy.py tests/e2e/cutting_proxy.py \
	tests/e2e/flock_preload.c tests/e2e/flood_child.py tests/e2e/hermes_host.py \
	tests/e2e/local_server.py tests/e2e/process_proto.py tests/e2e/requirements.txt tests/e2e/scope_session.py \
	tests/e2e/scripted_model.py tests/e2e/scripted_peer.py tests/e2e/tls_front.py \
	tests/e2e/test_bench.py tests/e2e/test_bounds.py tests/e2e/test_cli.py tests/e2e/test_cli_sandboxes.py \
	tests/e2e/test_command_lost.py tests/e2e/test_command_text.py \
	tests/e2e/test_cli_shell.py \
	tests/e2e/test_control_faults.py tests/e2e/test_delayproxy.py tests/e2e/test_documents.py \
	tests/e2e/test_environment.py \
	tests/e2e/test_hermes_life.py tests/e2e/test_hermes_scope.py tests/e2e/test_hermes_state.py \
	tests/e2e/test_hermes_tools.py \
	tests/e2e/test_local_control.py tests/e2e/test_local_daemon.py tests/e2e/test_local_data.py \
	tests/e2e/test_local_life.py tests/e2e/test_local_program.py tests/e2e/test_local_restart.py \
	tests/e2e/test_ipv6.py tests/e2e/test_native.py tests/e2e/test_peer.py tests/e2e/test_proxy.py \
	tests/e2e/test_round_trips.py \
	tests/e2e/test_scope.py tests/e2e/test_sdk.py tests/e2e/test_settings.py tests/e2e/test_state.py \
	tests/e2e/test_tls.py tests/e2e/test_tls_trust.py

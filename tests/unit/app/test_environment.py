from agent_core.app.environment import complete

MESH = {
    "CONSUL_HTTP_ADDR": "127.0.0.1:1",
    "SKILLMESH_TRACE_COLLECTOR": "http://127.0.0.1:2/v1/traces",
    "SKILLMESH_MODEL": "stand-in",
    "OPENAI_BASE_URL": "http://127.0.0.1:3/v1",
    "OPENAI_API_KEY": "placeholder",
}


def test_an_empty_environment_takes_all_of_the_mesh() -> None:
    environ: dict[str, str] = {}
    complete(environ, MESH)
    assert environ == MESH


def test_a_key_for_a_real_endpoint_never_goes_to_the_stand_in() -> None:
    environ = {"OPENAI_API_KEY": "real"}
    complete(environ, MESH)
    assert environ["OPENAI_API_KEY"] == "placeholder"
    assert environ["OPENAI_BASE_URL"] == MESH["OPENAI_BASE_URL"]


def test_a_model_of_the_users_own_keeps_its_endpoint_and_key() -> None:
    environ = {"SKILLMESH_MODEL": "mine", "OPENAI_API_KEY": "real"}
    complete(environ, MESH)
    assert environ["SKILLMESH_MODEL"] == "mine"
    assert environ["OPENAI_API_KEY"] == "real"
    assert "OPENAI_BASE_URL" not in environ
    assert environ["CONSUL_HTTP_ADDR"] == MESH["CONSUL_HTTP_ADDR"]


def test_what_the_user_has_set_stays() -> None:
    environ = {"SKILLMESH_TRACE_COLLECTOR": "http://elsewhere"}
    complete(environ, MESH)
    assert environ["SKILLMESH_TRACE_COLLECTOR"] == "http://elsewhere"

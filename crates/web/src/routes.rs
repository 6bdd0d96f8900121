//! What is where.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::answer::{JSON, error, whole};
use crate::site::Site;
use crate::{assets, blocking, documents, guard, sign_in, stream};

/// Every way in leads through the guard, also to what is not there.
pub(crate) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(assets::page))
        .route("/assets/{*name}", get(assets::asset))
        .route(guard::LOGIN, post(sign_in::login))
        .route("/healthz", get(documents::health))
        .route("/metrics", get(documents::metrics))
        .route("/api/v1/overview", get(documents::overview))
        .route("/api/v1/snapshot", get(documents::snapshot))
        .route("/api/v1/gaps", get(documents::gaps))
        .route("/api/v1/history", get(blocking::history))
        .route("/api/v1/events", get(blocking::events))
        .route("/api/v1/report", get(blocking::report))
        .route("/api/v1/stream", get(stream::stream))
        .route("/api/v1/openapi.json", get(async || whole(StatusCode::OK, JSON, crate::OPENAPI)))
        .route("/api/v1/plimsoll.status-1.schema.json", get(async || whole(StatusCode::OK, JSON, crate::STATUS_SCHEMA)))
        .fallback(async || error(StatusCode::NOT_FOUND, "nothing is here; /api/v1/openapi.json says what is where"))
        .layer(from_fn_with_state(Arc::clone(&site), guard::guard))
        .with_state(site)
}

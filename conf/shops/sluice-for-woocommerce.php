<?php
/**
 * Plugin Name: sluice for WooCommerce
 * Description: Adds the lines of each refund to an order of the REST API, and keeps the device id with the order.
 *
 * Copy it to wp-content/mu-plugins. It needs no settings and sends nothing by itself.
 */

defined( 'ABSPATH' ) || exit;

/** Returns total and tax of the items of a refund, as WooCommerce keeps them: below 0. */
function sluice_refunded_items( $refund, $type ) {
	$rows = array();
	foreach ( $refund->get_items( $type ) as $item ) {
		$row = array(
			'total'     => (string) $item->get_total(),
			'total_tax' => (string) $item->get_total_tax(),
		);
		if ( 'line_item' === $type ) {
			$row['line_item_id'] = (int) $item->get_meta( '_refunded_item_id' );
			$row['quantity']     = $item->get_quantity();
		}
		$rows[] = $row;
	}
	return $rows;
}

/** Adds lines, shipping and fees to each refund of an order as the REST API states it. */
function sluice_with_refunded_items( $payload ) {
	if ( empty( $payload['refunds'] ) || ! is_array( $payload['refunds'] ) ) {
		return $payload;
	}
	foreach ( $payload['refunds'] as $at => $stated ) {
		$refund = isset( $stated['line_items'] ) ? null : wc_get_order( $stated['id'] );
		if ( ! $refund ) {
			continue;
		}
		$payload['refunds'][ $at ]['line_items']     = sluice_refunded_items( $refund, 'line_item' );
		$payload['refunds'][ $at ]['shipping_lines'] = sluice_refunded_items( $refund, 'shipping' );
		$payload['refunds'][ $at ]['fee_lines']      = sluice_refunded_items( $refund, 'fee' );
	}
	return $payload;
}

/**
 * The REST API answers with the refunded items, so an order has the same refunds whether it is sent or exported. A
 * webhook's payload is that answer as a rule; the second filter finds them there, or adds them.
 */
function sluice_add_refunded_items( $response ) {
	$response->set_data( sluice_with_refunded_items( $response->get_data() ) );
	return $response;
}
function sluice_add_to_webhook( $payload, $resource ) {
	return 'order' === $resource && is_array( $payload ) ? sluice_with_refunded_items( $payload ) : $payload;
}
add_filter( 'woocommerce_rest_prepare_shop_order_object', 'sluice_add_refunded_items', 10, 1 );
add_filter( 'woocommerce_webhook_payload', 'sluice_add_to_webhook', 10, 2 );

/** Keeps the device id of the customer's browser with a new order. */
function sluice_keep_device( $order ) {
	$device = isset( $_COOKIE['svc_anon_id'] ) ? (string) $_COOKIE['svc_anon_id'] : '';
	if ( preg_match( '/\A[A-Za-z0-9._~-]{8,128}\z/', $device ) ) {
		$order->update_meta_data( '_svc_anon_id', $device );
	}
}
add_action( 'woocommerce_checkout_create_order', 'sluice_keep_device' );
add_action( 'woocommerce_store_api_checkout_update_order_meta', 'sluice_keep_device' );

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

/**
 * Adds lines, shipping and fees to each refund of an order. The REST API answers with it, and a webhook's payload is
 * that answer, so an order has the same refunds whether it is sent or exported.
 */
function sluice_add_refunded_items( $response ) {
	$payload = $response->get_data();
	if ( empty( $payload['refunds'] ) || ! is_array( $payload['refunds'] ) ) {
		return $response;
	}
	foreach ( $payload['refunds'] as $at => $stated ) {
		$refund = wc_get_order( $stated['id'] );
		if ( ! $refund ) {
			continue;
		}
		$payload['refunds'][ $at ]['line_items']     = sluice_refunded_items( $refund, 'line_item' );
		$payload['refunds'][ $at ]['shipping_lines'] = sluice_refunded_items( $refund, 'shipping' );
		$payload['refunds'][ $at ]['fee_lines']      = sluice_refunded_items( $refund, 'fee' );
	}
	$response->set_data( $payload );
	return $response;
}
add_filter( 'woocommerce_rest_prepare_shop_order_object', 'sluice_add_refunded_items', 10, 1 );

/** Keeps the device id of the customer's browser with a new order. */
function sluice_keep_device( $order ) {
	$device = isset( $_COOKIE['svc_anon_id'] ) ? (string) $_COOKIE['svc_anon_id'] : '';
	if ( preg_match( '/\A[A-Za-z0-9._~-]{8,128}\z/', $device ) ) {
		$order->update_meta_data( '_svc_anon_id', $device );
	}
}
add_action( 'woocommerce_checkout_create_order', 'sluice_keep_device' );
add_action( 'woocommerce_store_api_checkout_update_order_meta', 'sluice_keep_device' );

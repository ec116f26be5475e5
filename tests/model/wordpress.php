<?php
// Stands for WordPress and WooCommerce around the plugin of conf/shops: the few functions that it calls, with the
// values of a file. Prints the order of the REST API after the plugin's filter, the payload of a webhook that was built
// without that filter, and an order's meta data after its action.
define( 'ABSPATH', '/' );
$given    = json_decode( stream_get_contents( STDIN ), true );
$filters  = array();
$actions  = array();
$_COOKIE += $given['cookies'];

function add_filter( $name, $function, $priority, $arguments ) {
	global $filters;
	$filters[ $name ] = array( $function, $arguments );
}

function add_action( $name, $function ) {
	global $actions;
	$actions[ $name ] = $function;
}

class WP_REST_Response {
	public function __construct( private $data ) {}
	public function get_data() { return $this->data; }
	public function set_data( $data ) { $this->data = $data; }
}

class Item {
	public function __construct( private $row ) {}
	public function get_total() { return $this->row['total']; }
	public function get_total_tax() { return $this->row['total_tax']; }
	public function get_quantity() { return $this->row['quantity'] ?? 0; }
	public function get_meta( $name ) { return '_refunded_item_id' === $name ? $this->row['line'] : ''; }
}

class Refund {
	public function __construct( private $items ) {}
	public function get_items( $type ) {
		return array_map( fn( $row ) => new Item( $row ), $this->items[ $type ] ?? array() );
	}
}

class NewOrder {
	public $meta = array();
	public function update_meta_data( $name, $value ) { $this->meta[ $name ] = $value; }
}

function wc_get_order( $id ) {
	global $given;
	return isset( $given['refunds'][ $id ] ) ? new Refund( $given['refunds'][ $id ] ) : false;
}

require $argv[1];
// WooCommerce builds the payload of a webhook by a request to its REST API, whose answer passes through this filter.
list( $function, $arguments ) = $filters['woocommerce_rest_prepare_shop_order_object'];
$answer                       = array( new WP_REST_Response( $given['payload'] ), new NewOrder(), array() );
$payload                      = $function( ...array_slice( $answer, 0, $arguments ) )->get_data();
list( $function, $arguments ) = $filters['woocommerce_webhook_payload'];
$of_webhook                   = fn( $order ) => $function( ...array_slice( array( $order, 'order', 1, 2 ), 0, $arguments ) );
$webhooks                     = array( $of_webhook( $given['payload'] ), $of_webhook( $payload ) );
$orders                       = array();
foreach ( $actions as $name => $action ) {
	$order = new NewOrder();
	$action( $order );
	$orders[ $name ] = (object) $order->meta;
}
echo json_encode( array( 'payload' => $payload, 'webhooks' => $webhooks, 'orders' => $orders ) );

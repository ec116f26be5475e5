<?php
// Stands for WordPress and WooCommerce around the plugin of conf/shops: the few functions that it calls, with the
// values of a file. Prints the payload after the plugin's filter, and the meta data of an order after its action.
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
list( $function, $arguments ) = $filters['woocommerce_webhook_payload'];
$payload                      = $function( ...array_slice( array( $given['payload'], $given['resource'], 727, 7 ), 0, $arguments ) );
$orders                       = array();
foreach ( $actions as $name => $action ) {
	$order = new NewOrder();
	$action( $order );
	$orders[ $name ] = (object) $order->meta;
}
echo json_encode( array( 'payload' => $payload, 'orders' => $orders ) );

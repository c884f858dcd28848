using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>The same as <see cref="ManagedServices"/> with the native library. One receiver.</summary>
internal sealed class NativeServices : IDisposable
{
    private const string Service = "svc";
    private const string Publisher = "inproc://registry-publisher";
    private const string Router = "inproc://registry-router";
    private const ushort Receivers = 1;

    private nint _registry;
    private nint _discovery;
    private nint _gateway;
    private nint _receiver;

    /// <param name="context">Of all.</param>
    /// <param name="bind">Binds what it is given as the native library binds, and returns the endpoint.</param>
    /// <param name="certificates">Of transports that encrypt.</param>
    public NativeServices(nint context, Func<NativeSocket, string> bind, Certificates? certificates)
    {
        _registry = NativeFunctions.zlink_registry_new(context);
        Check(NativeFunctions.zlink_registry_set_endpoints(_registry, Publisher, Router));
        Check(NativeFunctions.zlink_registry_start(_registry));
        _discovery = NativeFunctions.zlink_discovery_new_typed(context, Receivers);
        Check(NativeFunctions.zlink_discovery_connect_registry(_discovery, Publisher));
        _gateway = NativeFunctions.zlink_gateway_new(context, _discovery, null);
        _receiver = NativeFunctions.zlink_receiver_new(context, null);
        ReceiverSocket = NativeSocket.Borrow(NativeFunctions.zlink_receiver_router(_receiver));
        GatewaySocket = NativeSocket.Borrow(NativeFunctions.zlink_gateway_router(_gateway));
        if (certificates is not null)
        {
            Check(NativeFunctions.zlink_gateway_set_tls_client(_gateway, certificates.CertificateFile, Certificates.Host, 0));
        }

        string endpoint = bind(ReceiverSocket);
        Check(NativeFunctions.zlink_receiver_connect_registry(_receiver, Router));
        Check(NativeFunctions.zlink_receiver_register(_receiver, Service, endpoint, 1));
        Settling.Until(_gateway, static gateway => NativeFunctions.zlink_gateway_connection_count(gateway, Service) > 0);
        Settling.Rest();
    }

    private NativeSocket ReceiverSocket { get; }

    private NativeSocket GatewaySocket { get; }

    public void MeasureFlood(IPatternRun run) =>
        run.Measure(new NativeGatewayEnds(_gateway, ReceiverSocket), static () => ["native services: nothing to tell"]);

    /// <summary>Send, receive, answer and receive on one thread. The answer is read from the gateway's socket: its own receive call loses
    /// it.</summary>
    public void MeasureRequests(IPatternRun run, int size)
    {
        var ends = new NativeGatewayEnds(_gateway, ReceiverSocket);
        var client = new NativeRoutedPort(GatewaySocket, [], poll: false);
        var server = new NativeRoutedPort(ReceiverSocket, [], poll: false);
        byte[] payload = new byte[size];
        byte[] received = new byte[size];
        run.MeasureRoundTrips(() =>
        {
            ends.Send(payload);
            server.Receive(received);
            server.Answer(received);
            client.Receive(received);
            return new ValueTask<bool>(result: true);
        });
    }

    public void Dispose()
    {
        _ = NativeFunctions.zlink_receiver_destroy(ref _receiver);
        _ = NativeFunctions.zlink_gateway_destroy(ref _gateway);
        _ = NativeFunctions.zlink_discovery_destroy(ref _discovery);
        _ = NativeFunctions.zlink_registry_destroy(ref _registry);
    }

    private static void Check(int result) => NativeSocket.Check(result, "services");
}

/// <summary>A native gateway and its one receiver.</summary>
internal readonly unsafe struct NativeGatewayEnds(nint gateway, NativeSocket receiver) : IPatternEnds
{
    private readonly NativeRoutedPort _receiver = new(receiver, [], poll: false);

    public int Ways => 1;

    public int Multiple => 1;

    public void Send(ReadOnlySpan<byte> payload)
    {
        NativeMessageStruct message = default;
        NativeSocket.Check(NativeFunctions.zlink_msg_init_size(ref message, (nuint)payload.Length), "message");
        payload.CopyTo(new Span<byte>(NativeFunctions.zlink_msg_data(ref message), payload.Length));
        fixed (byte* service = "svc\0"u8)
        {
            NativeSocket.Check(NativeFunctions.zlink_gateway_send(gateway, service, &message, 1, NativeFlags.None), "gateway send");
        }
    }

    public void Receive(Span<byte> payload) => _receiver.Receive(payload);

    public int ReceiveMany(Span<byte> payload, int most)
    {
        Receive(payload);
        return 1;
    }

    public void SendBack(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void ReceiveBack(Span<byte> payload) => throw new NotSupportedException();

    public void AwaitConnection()
    {
        // Done when it was set up.
    }
}

using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>A SPOT node of either kind with one subscriber. One thread at a time.</summary>
internal interface ISpotRole : IDisposable
{
    string Endpoint { get; }

    /// <summary>Registers at the registry and follows it.</summary>
    void Join(IRegistryRole registry);

    void ConnectPeer(string endpoint);

    void Subscribe(string topic);

    void SubscribePattern(string pattern);

    void Unsubscribe(string topicOrPattern);

    void Publish(string topic, params byte[][] parts);

    /// <summary>The next message if there is one.</summary>
    (string Topic, byte[][] Parts)? TryReceive();
}

internal sealed class NativeSpotRole : ISpotRole
{
    private readonly NativeContext _context = new();
    private readonly NativeSpotNode _node;
    private readonly NativeSpotSubscriber _subscriber;
    private NativeDiscovery? _discovery;

    public NativeSpotRole(string endpoint, bool isQueued)
    {
        Endpoint = endpoint;
        _node = new NativeSpotNode(_context);
        foreach (int role in new[] { NativeRole.SpotPublisher, NativeRole.SpotSubscriber, NativeRole.SpotDealer })
        {
            _node.SetOption(role, NativeOption.Linger, 0);
        }

        if (isQueued)
        {
            _node.SetOption(NativeRole.SpotNode, NativeSpotOption.PublishMode, 1);
        }

        _node.Bind(endpoint);
        _subscriber = _node.CreateSubscriber();
    }

    public string Endpoint { get; }

    public void Join(IRegistryRole registry)
    {
        _discovery = new NativeDiscovery(_context, 2);
        _discovery.ConnectRegistry(registry.Publisher);
        _node.ConnectRegistry(registry.Router);
        Register();
        _node.SetDiscovery(_discovery);
    }

    /// <summary>Once it has joined.</summary>
    public void Register() => _node.Register(advertise: Endpoint);

    public void Unregister() => _node.Unregister();

    public void ConnectPeer(string endpoint) => _node.ConnectPeer(endpoint);

    public void Subscribe(string topic) => _subscriber.Subscribe(topic);

    public void SubscribePattern(string pattern) => _subscriber.SubscribePattern(pattern);

    public void Unsubscribe(string topicOrPattern) => _subscriber.Unsubscribe(topicOrPattern);

    public void Publish(string topic, params byte[][] parts) =>
        Limits.Until("the publication is accepted", () => _node.Publish(topic, parts) == NativeSendResult.Sent);

    public (string Topic, byte[][] Parts)? TryReceive() => _subscriber.TryReceive();

    public void Dispose()
    {
        _subscriber.Dispose();
        _node.Dispose();
        _discovery?.Dispose();
        _context.Dispose();
    }
}

internal sealed class ManagedSpotRole : ISpotRole
{
    private readonly ZlinkContext _context = new();
    private readonly SpotNode _node;
    private readonly SpotSubscriber _subscriber;
    private RegistryDirectory? _discovery;

    public ManagedSpotRole(string endpoint, bool isQueued)
    {
        _node = new SpotNode(_context, new SpotNodeOptions
        {
            PublishQueueCapacity = isQueued ? 1024 : 0,
            PublisherSocket = { Linger = TimeSpan.Zero },
        });
        Endpoint = _node.Bind(endpoint);
        _subscriber = _node.CreateSubscriber(new SpotSubscriberOptions { Capacity = 200_000 });
    }

    public string Endpoint { get; }

    public void Join(IRegistryRole registry)
    {
        _discovery = new RegistryDirectory(_context, ServiceKind.SpotNode);
        _discovery.ConnectRegistry(registry.Publisher);
        _node.ConnectRegistry(registry.Router);
        _node.RegisterAsync(advertise: Endpoint, cancellationToken: Limits.Token).Guarded().GetAwaiter().GetResult();
        _node.UseDirectory(_discovery);
    }

    public void ConnectPeer(string endpoint) => _node.Connect(endpoint);

    public void Subscribe(string topic) => _subscriber.Subscribe(topic);

    public void SubscribePattern(string pattern) => _subscriber.SubscribePattern(pattern);

    public void Unsubscribe(string topicOrPattern) => _ = topicOrPattern.EndsWith('*')
        ? _subscriber.UnsubscribePattern(topicOrPattern) : _subscriber.Unsubscribe(topicOrPattern);

    public void Publish(string topic, params byte[][] parts)
    {
        using var builder = new MessageBuilder();
        foreach (byte[] part in parts)
        {
            builder.Add(part);
        }

        _node.PublishAsync(topic, builder, Limits.Token).AsTask().Guarded().GetAwaiter().GetResult();
    }

    public (string Topic, byte[][] Parts)? TryReceive()
    {
        if (!_subscriber.TryReceive(out SpotMessage message))
        {
            return null;
        }

        using (message)
        {
            var parts = new byte[message.PartCount][];
            for (int i = 0; i < parts.Length; i++)
            {
                parts[i] = message[i].ToArray();
            }

            return (message.Topic, parts);
        }
    }

    public void Dispose()
    {
        _node.DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();
        _discovery?.Dispose();
        _context.Dispose();
    }
}

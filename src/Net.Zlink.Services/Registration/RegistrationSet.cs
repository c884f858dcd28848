namespace Net.Zlink.Services;

/// <summary>The registrations and registries of one receiver or SPOT node, and the links between them: one for each registry and advertised
/// endpoint, since a registry lists the sender's id for its endpoint.</summary>
internal sealed class RegistrationSet(ZlinkContext context, ServiceKind kind, RegistrationSettings settings) : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly List<string> _registries = [];
    private readonly List<ServiceRegistration> _registrations = [];
    private readonly List<RegistryLinkLoop> _links = [];
    private string? _firstEndpoint;
    private bool _isDisposed;

    /// <summary>Listed for the first advertised endpoint. Empty: an id made of the endpoint's text is.</summary>
    public RoutingId GivenId { get; set; }

    public ServiceRegistration[] Registrations => CopyOf(_registrations);

    public string[] Registries => CopyOf(_registries);

    public RegistryLinkLoop[] Links => CopyOf(_links);

    /// <summary>Adds a registry; registers there what is registered. A registry that is there stays as it is.</summary>
    public void AddRegistry(string registry)
    {
        EndpointCheck.ThrowIfInvalid(registry);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_registries.Contains(registry, StringComparer.Ordinal))
            {
                return;
            }

            _registries.Add(registry);
            _registrations.ForEach(registration => LinkOf(registry, registration.Endpoint).Add(registration));
        }
    }

    public bool RemoveRegistry(string registry)
    {
        lock (_gate)
        {
            if (!_registries.Remove(registry))
            {
                return false;
            }

            bool IsThere(RegistryLinkLoop link) => string.Equals(link.RegistryEndpoint, registry, StringComparison.Ordinal);
            foreach (RegistryLinkLoop link in _links.FindAll(IsThere))
            {
                _links.Remove(link);
                _ = CloseAsync(link, [.. _registrations]);
            }
        }

        return true;
    }

    /// <summary>Registers and waits for the first registry that accepts it. A registration that is not waited for to its end is
    /// removed.</summary>
    public async Task<ServiceRegistration> RegisterAsync(Func<ServiceRegistration> register, CancellationToken cancellationToken)
    {
        if (Registries.Length == 0)
        {
            throw new InvalidOperationException("There is no registry to wait for: call ConnectRegistry first.");
        }

        ServiceRegistration registration = register();
        try
        {
            await registration.WaitUntilRegisteredAsync(cancellationToken).ConfigureAwait(false);
            return registration;
        }
        catch
        {
            await registration.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public ServiceRegistration Add(ServiceText service, string endpoint, uint weight)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_registrations.Exists(other => other.ServiceText == service
                && string.Equals(other.Endpoint, endpoint, StringComparison.Ordinal)))
            {
                throw new InvalidOperationException(
                    $"{service} is registered at {new RedactedEndpoint(endpoint)} already: change its weight, or "
                    + "dispose that registration first.");
            }

            _firstEndpoint ??= endpoint;
            var registration = new ServiceRegistration(this, service, endpoint, Math.Max(1, weight));
            _registrations.Add(registration);
            _registries.ForEach(registry => LinkOf(registry, endpoint).Add(registration));
            return registration;
        }
    }

    public Task UpdateWeightAsync(ServiceRegistration registration) =>
        Task.WhenAll(LinksOf(registration).Select(link => link.UpdateWeightAsync(registration)));

    public async Task RemoveAsync(ServiceRegistration registration)
    {
        if (!registration.TryEnd())
        {
            return;
        }

        RegistryLinkLoop[] links;
        RegistryLinkLoop[] unused;
        lock (_gate)
        {
            links = LinksOf(registration);
            _registrations.Remove(registration);
            unused = _registrations.Exists(other => string.Equals(other.Endpoint, registration.Endpoint, StringComparison.Ordinal)) ? []
                : links;
            _links.RemoveAll(unused.Contains);
        }

        await Task.WhenAll(links.Select(link => link.RemoveAsync(registration))).ConfigureAwait(false);
        await Task.WhenAll(unused.Select(static link => link.DisposeAsync().AsTask())).ConfigureAwait(false);
    }

    public Task RemoveAllAsync() => Task.WhenAll(Registrations.Select(RemoveAsync));

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _isDisposed = true;
        }

        await RemoveAllAsync().ConfigureAwait(false);
    }

    private static async Task CloseAsync(RegistryLinkLoop link, ServiceRegistration[] registrations)
    {
        await link.DisposeAsync().ConfigureAwait(false);
        Array.ForEach(registrations, registration => registration.RemoveStatus(link));
    }

    private T[] CopyOf<T>(List<T> list)
    {
        lock (_gate)
        {
            return [.. list];
        }
    }

    private RegistryLinkLoop[] LinksOf(ServiceRegistration registration)
    {
        lock (_gate)
        {
            return [.. _links.Where(link => string.Equals(link.Endpoint, registration.Endpoint, StringComparison.Ordinal))];
        }
    }

    // Under the gate.
    private RegistryLinkLoop LinkOf(string registry, string endpoint)
    {
        RegistryLinkLoop? link = _links.Find(other => string.Equals(other.RegistryEndpoint, registry, StringComparison.Ordinal)
            && string.Equals(other.Endpoint, endpoint, StringComparison.Ordinal));
        if (link is null)
        {
            // Two endpoints with one id would abort a native gateway, so a given id is the first one's.
            bool hasGivenId = !GivenId.IsEmpty && string.Equals(endpoint, _firstEndpoint, StringComparison.Ordinal);
            RoutingId id = hasGivenId ? GivenId : StableRoutingId.Of(endpoint);
            link = new RegistryLinkLoop(context, kind, registry, endpoint, id, settings);
            _links.Add(link);
            link.Start();
        }

        return link;
    }
}

/// <summary>How registrations are kept up, and the options of the sockets that do it.</summary>
internal sealed record RegistrationSettings(TimeSpan HeartbeatInterval, TimeSpan AckTimeout, DealerOptions Socket);

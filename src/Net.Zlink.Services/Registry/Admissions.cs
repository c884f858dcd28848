using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What a client asks, as far as a decision depends on it: equal questions that are open share one call. Over ws and wss the
/// connection counts, too, since its request may hold a token.</summary>
internal readonly record struct AdmissionQuestion(ushort MessageId, EntryKey Entry, uint Weight, bool IsOwner, RoutingId Id, string Address,
    string? Certificate, RegistryRequester? Connection)
{
    public static AdmissionQuestion Of(in RegistryRequest request, RegistryRequester client, bool isOwner) =>
        new(request.Id, request.Entry, request.Weight, isOwner, client.Sender.Id, client.Sender.Address, client.Sender.Certificate,
            client.WebSocketRequest is null ? null : client);
}

/// <summary>Puts questions to the application's policy, several at a time on the thread pool. Used by one loop alone.</summary>
internal sealed class Admissions(ServiceRegistryOptions options, uint registry, TimeProvider clock, ILogger logger,
    Action<AdmissionQuestion, RegistrationAdmission> decided) : IDisposable
{
    // A policy asks a database or a service as a rule: more calls at a time do not make it faster.
    private const int MaxConcurrentCalls = 64;

    private readonly Dictionary<AdmissionQuestion, List<RegistryRequester>> _open = [];
    private readonly SemaphoreSlim _calls = new(MaxConcurrentCalls, MaxConcurrentCalls);
    private readonly CancellationTokenSource _end = new();

    /// <summary>Asks. The decision comes by any thread, once for all that ask the same.</summary>
    public void Ask(in AdmissionQuestion question, RegistryRequester client)
    {
        if (_open.TryGetValue(question, out List<RegistryRequester>? clients))
        {
            clients.Add(client);
            return;
        }

        _open.Add(question, [client]);
        _ = DecideAsync(question, RequestOf(question, client));
    }

    /// <summary>A question is open no more.</summary>
    /// <returns>Those that asked it.</returns>
    public List<RegistryRequester> Close(in AdmissionQuestion question) =>
        _open.Remove(question, out List<RegistryRequester>? clients) ? clients : [];

    public void Dispose() => _end.Cancel();

    private static RegistrationRequest RequestOf(in AdmissionQuestion question, RegistryRequester client) => new()
    {
        Type = question.MessageId switch
        {
            MessageIds.Register => RegistrationRequestType.Register,
            MessageIds.UpdateWeight => RegistrationRequestType.UpdateWeight,
            MessageIds.Unregister => RegistrationRequestType.Unregister,
            _ => RegistrationRequestType.Heartbeat,
        },
        IsOwner = question.IsOwner,
        Kind = (ServiceKind)question.Entry.Service.Kind,
        Service = question.Entry.Service.Name.ToString(),
        Endpoint = question.Entry.Endpoint.ToString(),
        Weight = question.Weight,
        RoutingId = question.Id,
        RemoteAddress = client.RemoteAddress,
        CertificateSubject = question.Certificate,
        WebSocketRequest = client.WebSocketRequest,
    };

    private async Task DecideAsync(AdmissionQuestion question, RegistrationRequest request)
    {
        using var deadline = new CancellationTokenSource(options.AdmissionTimeout, clock);
        using var token = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, _end.Token);
        RegistrationAdmission admission;
        try
        {
            await _calls.WaitAsync(token.Token).ConfigureAwait(false);
            admission = await CallAsync(request, token.Token).WaitAsync(token.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (token.IsCancellationRequested)
        {
            admission = RegistrationAdmission.NotNow("admission timed out");
        }
        catch (Exception e)
        {
            ServicesLog.AdmissionFailed(logger, e, registry, request.Service, request.Endpoint);
            admission = RegistrationAdmission.NotNow("admission failed");
        }

        decided(question, admission);
    }

    /// <summary>A call that does not heed its token keeps its place: there are never more of them.</summary>
    private Task<RegistrationAdmission> CallAsync(RegistrationRequest request, CancellationToken token) => Task.Run(async () =>
    {
        try
        {
            return await options.Admission!(request, token).ConfigureAwait(false);
        }
        finally
        {
            _calls.Release();
        }
    }, CancellationToken.None);
}

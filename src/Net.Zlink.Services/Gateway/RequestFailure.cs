using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>What the caller of a request that was not answered is told.</summary>
internal static class RequestFailure
{
    /// <param name="request">Taken out of the table, not completed yet.</param>
    /// <param name="outcome">How it ended; not by a reply.</param>
    public static Exception Of(PendingRequest request, in RequestOutcome outcome)
    {
        string service = request.Pool.Service;
        string receiver = request.Link?.Endpoint ?? "";
        return outcome.Kind switch
        {
            RequestOutcomeKind.Failed => new ServiceException(
                ServiceError.Failed, $"{service} at {receiver} executed the request and failed: {outcome.Text}", outcome.Code,
                wasExecuted: true),
            RequestOutcomeKind.Refused => new ServiceException(
                ServiceError.Refused,
                $"none of {request.Asked.Count} receivers of {service} executed the request; the last one says: {request.Refusal.Text}",
                request.Refusal.Code),
            RequestOutcomeKind.Lost => new ServiceException(
                ServiceError.ReceiverLost,
                $"the connection to {service} at {receiver} ended before its reply came; the request may have been executed",
                wasExecuted: true),
            RequestOutcomeKind.NoReceiver => new ServiceException(
                ServiceError.NoReceiver, $"no receiver of {service} is ready{WhyNobody(request)}"),
            RequestOutcomeKind.Cancelled => new OperationCanceledException(request.Token),
            RequestOutcomeKind.TimedOut => new TimeoutException(
                string.Create(CultureInfo.InvariantCulture,
                $"no reply of {service} came within {request.Timeout.TotalMilliseconds:0} ms: {WhyLate(request, receiver)}")),
            _ => outcome.Exception ?? new ServiceException($"the request to {service} has ended"),
        };
    }

    private static string WhyLate(PendingRequest request, string receiver) =>
        request.Link is not null ? $"{receiver} was asked and has not answered"
        : request.Refusal.Kind == RequestOutcomeKind.Refused
            ? $"the receiver that was asked last refused ({request.Refusal.Text}), and no other one had room"
        : request.Pool.Ready.Count > 0 ? "no receiver that is ready had room; it was not sent"
        : $"it was not sent{WhyNobody(request)}";

    private static string WhyNobody(PendingRequest request)
    {
        ServicePool pool = request.Pool;
        if (!pool.Ready.IsListed)
        {
            return ": the directory lists none";
        }

        if (!request.Target.IsEmpty)
        {
            return $" that has the routing id {request.Target}";
        }

        ReceiverLink[] links = pool.Links;
        return links.Length == 0 ? ""
            : $": {string.Join("; ", links.Take(3).Select(static link => $"{link.Endpoint} "
            + $"({WhyNotReady(link)})"))}{(links.Length > 3 ? $" and {links.Length - 3} more" : "")}";
    }

    /// <summary>Why a link is in no pool, for people.</summary>
    public static string WhyNotReady(ReceiverLink link) =>
        link.IsInPools ? "ready"
        : link.IsDraining ? "it is about to end"
        : link.State == LinkState.Connecting ? "connecting"
        : link.Trouble ?? "not connected";
}

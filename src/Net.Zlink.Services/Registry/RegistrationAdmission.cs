namespace Net.Zlink.Services;

/// <summary>What <see cref="ServiceRegistryOptions.Admission"/> decides about a request. The default value accepts it.</summary>
public readonly struct RegistrationAdmission
{
    private RegistrationAdmission(byte status, string? reason, bool isForAnyone) =>
        (Status, Reason, IsForAnyone) = (status, reason, isForAnyone);

    /// <summary>
    /// Accepts the request by the registry's own rules: a change of an entry is still refused to everybody but its owner.
    /// </summary>
    public static RegistrationAdmission Accept => default;

    /// <summary>Accepts the request also where its sender does not own the entry: for tools that operators use.</summary>
    public static RegistrationAdmission AcceptFromAnyone => new(AckStatus.Done, reason: null, isForAnyone: true);

    /// <summary>Whether the request is accepted.</summary>
    public bool IsAccepted => Status == AckStatus.Done;

    internal byte Status { get; }

    internal string? Reason { get; }

    internal bool IsForAnyone { get; }

    /// <summary>Refuses the request. A REGISTER or UPDATE_WEIGHT is answered with the reason; the others have no answer.</summary>
    /// <param name="reason">What the sender gets; it also stands in the log.</param>
    /// <returns>The decision.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="reason"/> is null.</exception>
    public static RegistrationAdmission Refuse(string reason)
    {
        ArgumentNullException.ThrowIfNull(reason);
        return new RegistrationAdmission(AckStatus.Refused, reason, isForAnyone: false);
    }

    /// <summary>Refuses for now, because the policy could not decide. Clients retry.</summary>
    internal static RegistrationAdmission NotNow(string reason) => new(AckStatus.NotNow, reason, isForAnyone: false);
}

using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Net.Zlink.Buffers;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Which properties of a type of options can be set by text. The table names each type, so that trimming keeps them.</summary>
internal sealed class SettingType
{
    private static readonly FrozenDictionary<Type, SettingType> Known = new[]
    {
        Of<ZlinkContextOptions>(), Of<BufferPoolOptions>(),
        Of<PairOptions>(), Of<DealerOptions>(), Of<RouterOptions>(), Of<PubOptions>(), Of<SubOptions>(), Of<XPubOptions>(),
        Of<XSubOptions>(), Of<StreamOptions>(), Of<TlsOptions>(), Of<WebSocketTransportOptions>(),
        Of<ServiceGatewayOptions>(), Of<ServiceReceiverOptions>(), Of<ServingSettings>(), Of<ServiceRegistryOptions>(),
        Of<SpotNodeOptions>(), Of<DirectoryEndpointOptions>(),
        Of<ContextHealthOptions>(), Of<SocketHealthOptions>(), Of<ReceiverHealthOptions>(), Of<ClientHealthOptions>(),
        Of(static () => new HealthThreshold()),
    }.ToFrozenDictionary(static one => one._type);

    private readonly Type _type;
    private readonly Func<object>? _create;
    private readonly Lazy<FrozenDictionary<string, PropertyInfo>> _properties;

    private SettingType(Type type, PropertyInfo[] properties, Func<object>? create)
    {
        _type = type;
        _create = create;
        _properties = new Lazy<FrozenDictionary<string, PropertyInfo>>(() => properties.Where(CanBeSet)
            .ToFrozenDictionary(KeyOf, StringComparer.OrdinalIgnoreCase));
    }

    public IEnumerable<string> Keys => _properties.Value.Keys;

    /// <summary>Null: its values are texts, or code alone sets it.</summary>
    public static SettingType? Find(Type type) => Known.GetValueOrDefault(type);

    public PropertyInfo? Property(string key) => _properties.Value.GetValueOrDefault(key);

    /// <summary>The options below a property, which has none yet where code alone made some.</summary>
    public object ValueOf(PropertyInfo property, object owner)
    {
        if (property.GetValue(owner) is { } there)
        {
            return there;
        }

        object made = _create!();
        property.SetValue(owner, made);
        return made;
    }

    public static bool IsList(Type type) => type.IsAssignableTo(typeof(ICollection<string>));

    public static bool IsFields(Type type) => type == typeof(IDictionary<string, string>);

    private static SettingType Of<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] T>(
        Func<T>? create = null)
        where T : class => new(typeof(T), typeof(T).GetProperties(BindingFlags.Public | BindingFlags.Instance), create);

    private static string KeyOf(PropertyInfo property) =>
        property.GetCustomAttribute<ConfigurationKeyNameAttribute>()?.Name ?? property.Name;

    private static bool CanBeSet(PropertyInfo property) =>
        Known.ContainsKey(property.PropertyType) || IsList(property.PropertyType) || IsFields(property.PropertyType)
        || (property.SetMethod?.IsPublic == true && SettingText.CanRead(property.PropertyType));
}

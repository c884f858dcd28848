using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Net.Zlink.Tests.PublicApi;

/// <summary>Writes an assembly's public types and members as sorted lines of text, so that a change of the API is a change of a file.</summary>
internal sealed class PublicApiText
{
    private const BindingFlags Declared = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<Type, string> Keywords = new()
    {
        [typeof(void)] = "void",
        [typeof(object)] = "object",
        [typeof(string)] = "string",
        [typeof(bool)] = "bool",
        [typeof(byte)] = "byte",
        [typeof(sbyte)] = "sbyte",
        [typeof(short)] = "short",
        [typeof(ushort)] = "ushort",
        [typeof(int)] = "int",
        [typeof(uint)] = "uint",
        [typeof(long)] = "long",
        [typeof(ulong)] = "ulong",
        [typeof(float)] = "float",
        [typeof(double)] = "double",
        [typeof(decimal)] = "decimal",
        [typeof(char)] = "char",
        [typeof(nint)] = "nint",
        [typeof(nuint)] = "nuint",
    };

    private readonly NullabilityInfoContext _nullability = new();

    public static string Of(Assembly assembly)
    {
        var writer = new PublicApiText();
        var text = new StringBuilder();
        foreach (Type type in assembly.GetExportedTypes().Where(static t => !t.IsSpecialName && t.DeclaringType?.IsSpecialName != true).OrderBy(static t => t.FullName, StringComparer.Ordinal))
        {
            text.Append(writer.Header(type)).Append('\n');
            IEnumerable<string> members = type.IsSubclassOf(typeof(Delegate)) ? [] : writer.Members(type);
            foreach (string member in members.Order(StringComparer.Ordinal))
            {
                text.Append("    ").Append(member).Append('\n');
            }

            text.Append('\n');
        }

        return text.ToString();
    }

    private static bool IsVisible(MethodBase? method) => method is { IsPublic: true } or { IsFamily: true } or { IsFamilyOrAssembly: true };

    private static bool IsVisible(FieldInfo field) => field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly;

    private static string Access(MethodBase method) => method.IsPublic ? "public" : "protected";

    private static string Modifiers(MethodBase method)
    {
        if (method.DeclaringType!.IsInterface)
        {
            return method.IsStatic ? "static " : "";
        }

        string modifiers = $"{Access(method)} ";
        if (method.IsStatic)
        {
            return modifiers + "static ";
        }

        if (method.IsAbstract)
        {
            return modifiers + "abstract ";
        }

        bool isOverride = method is MethodInfo info && info.GetBaseDefinition() != info;
        if (isOverride)
        {
            return modifiers + (method.IsFinal ? "sealed override " : "override ");
        }

        return method.IsVirtual && !method.IsFinal ? modifiers + "virtual " : modifiers;
    }

    private static string Literal(object? value, Type type) => value switch
    {
        null when type.IsValueType && Nullable.GetUnderlyingType(type) is null => "default",
        null => "null",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        char one => $"'{one}'",
        _ when type.IsEnum => $"{type.Name}.{Enum.ToObject(type, value)}",
        IFormattable number => number.ToString(null, System.Globalization.CultureInfo.InvariantCulture),
        _ => value.ToString()!,
    };

    private string Header(Type type)
    {
        if (type.IsEnum)
        {
            string flags = type.IsDefined(typeof(FlagsAttribute)) ? "[Flags] " : "";
            return $"{flags}public enum {FullName(type)} : {Name(Enum.GetUnderlyingType(type))}";
        }

        if (type.IsSubclassOf(typeof(Delegate)))
        {
            MethodInfo invoke = type.GetMethod("Invoke")!;
            return $"public delegate {Return(invoke)} {FullName(type)}({Parameters(invoke)})";
        }

        string kind = type.IsInterface ? "interface"
            : type.IsValueType ? $"{(type.IsDefined(typeof(IsReadOnlyAttribute)) ? "readonly " : "")}{(type.IsByRefLike ? "ref " : "")}struct"
            : type.IsAbstract && type.IsSealed ? "static class"
            : type.IsAbstract ? "abstract class"
            : type.IsSealed ? "sealed class"
            : "class";
        bool isRecord = type.GetMethod("PrintMembers", Declared)?.IsDefined(typeof(CompilerGeneratedAttribute)) == true;
        List<string> bases = [];
        if (type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType))
        {
            bases.Add(Name(parent));
        }

        // Also those that come with a base type: reflection can't tell them apart, and they are part of what users may rely on.
        bases.AddRange(type.GetInterfaces().Where(static i => i.IsVisible).Select(i => Name(i)).Order(StringComparer.Ordinal));
        return $"{(type.IsNested && type.IsNestedFamily ? "protected" : "public")} {(isRecord ? kind.Replace("class", "record", StringComparison.Ordinal).Replace("struct", "record struct", StringComparison.Ordinal) : kind)} {FullName(type)}{(bases.Count > 0 ? " : " + string.Join(", ", bases) : "")}";
    }

    private IEnumerable<string> Members(Type type)
    {
        foreach (FieldInfo field in type.GetFields(Declared).Where(static f => IsVisible(f) && !f.IsSpecialName))
        {
            yield return type.IsEnum
                ? $"{field.Name} = {Convert.ToInt64(field.GetRawConstantValue(), System.Globalization.CultureInfo.InvariantCulture)}"
                : $"{(field.IsPublic ? "public" : "protected")} {(field.IsLiteral ? "const " : field.IsStatic ? "static " : "")}{(field.IsInitOnly ? "readonly " : "")}"
                    + $"{Name(_nullability.Create(field))} {field.Name}{(field.IsLiteral ? " = " + Literal(field.GetRawConstantValue(), field.FieldType) : "")}";
        }

        foreach (PropertyInfo property in type.GetProperties(Declared).Where(static p => IsVisible(p.GetMethod) || IsVisible(p.SetMethod)))
        {
            yield return Property(property);
        }

        foreach (EventInfo e in type.GetEvents(Declared).Where(static e => IsVisible(e.AddMethod)))
        {
            yield return $"{Modifiers(e.AddMethod!)}event {Name(_nullability.Create(e))} {e.Name}";
        }

        foreach (ConstructorInfo constructor in type.GetConstructors(Declared).Where(static c => IsVisible(c) && !c.IsStatic))
        {
            yield return $"{Access(constructor)} {Plain(type)}({Parameters(constructor)})";
        }

        // Properties and events stand for their accessors, the word "record" for what the compiler makes of one.
        foreach (MethodInfo method in type.GetMethods(Declared).Where(static m => IsVisible(m) && !m.IsDefined(typeof(CompilerGeneratedAttribute))
            && (!m.IsSpecialName || m.Name.StartsWith("op_", StringComparison.Ordinal))))
        {
            string generic = method.IsGenericMethodDefinition ? $"<{string.Join(", ", method.GetGenericArguments().Select(static a => a.Name))}>" : "";
            string extension = method.IsDefined(typeof(ExtensionAttribute)) ? "this " : "";
            yield return $"{Modifiers(method)}{Return(method)} {method.Name}{generic}({extension}{Parameters(method)})";
        }
    }

    private string Property(PropertyInfo property)
    {
        MethodInfo shown = (IsVisible(property.GetMethod) ? property.GetMethod : property.SetMethod)!;
        var accessors = new StringBuilder();
        if (IsVisible(property.GetMethod))
        {
            accessors.Append("get; ");
        }

        if (IsVisible(property.SetMethod))
        {
            bool init = property.SetMethod!.ReturnParameter.GetRequiredCustomModifiers().Contains(typeof(IsExternalInit));
            string access = property.SetMethod.IsPublic || !shown.IsPublic ? "" : "protected ";
            accessors.Append(access).Append(init ? "init; " : "set; ");
        }

        string required = property.IsDefined(typeof(RequiredMemberAttribute)) ? "required " : "";
        string index = property.GetIndexParameters().Length > 0 ? $"[{string.Join(", ", property.GetIndexParameters().Select(Parameter))}]" : "";
        string reference = property.PropertyType.IsByRef ? "ref " : "";
        return $"{Modifiers(shown)}{required}{reference}{Name(_nullability.Create(property))} {property.Name}{index} {{ {accessors}}}";
    }

    private string Return(MethodInfo method) =>
        (method.ReturnType.IsByRef ? "ref " : "") + Name(_nullability.Create(method.ReturnParameter));

    private string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(Parameter));

    private string Parameter(ParameterInfo parameter)
    {
        string passing = parameter.IsOut ? "out " : parameter.IsIn ? "in " : parameter.ParameterType.IsByRef ? "ref " : parameter.IsDefined(typeof(ParamArrayAttribute)) ? "params " : "";
        string value = parameter.HasDefaultValue ? $" = {Literal(parameter.DefaultValue, parameter.ParameterType)}" : "";
        return $"{passing}{Name(_nullability.Create(parameter))} {parameter.Name}{value}";
    }

    /// <summary>A type with the question marks of nullable references.</summary>
    private static string Name(NullabilityInfo info)
    {
        Type type = info.Type.IsByRef ? info.Type.GetElementType()! : info.Type;
        string mark = !type.IsValueType && (info.ReadState == NullabilityState.Nullable || info.WriteState == NullabilityState.Nullable) ? "?" : "";
        if (info.ElementType is { } element && type.IsArray)
        {
            return $"{Name(element)}[]{mark}";
        }

        if (info.GenericTypeArguments.Length > 0 && Nullable.GetUnderlyingType(type) is null && !type.IsGenericParameter)
        {
            return $"{Plain(type)}<{string.Join(", ", info.GenericTypeArguments.Select(Name))}>{mark}";
        }

        return Name(type) + mark;
    }

    private static string Name(Type type)
    {
        if (type.IsByRef)
        {
            return Name(type.GetElementType()!);
        }

        if (Nullable.GetUnderlyingType(type) is { } value)
        {
            return $"{Name(value)}?";
        }

        if (type.IsArray)
        {
            return $"{Name(type.GetElementType()!)}[]";
        }

        if (Keywords.TryGetValue(type, out string? keyword))
        {
            return keyword;
        }

        return type.IsGenericType ? $"{Plain(type)}<{string.Join(", ", type.GetGenericArguments().Select(static a => Name(a)))}>" : Plain(type);
    }

    private static string FullName(Type type) => type.IsNested ? $"{FullName(type.DeclaringType!)}.{Generic(type)}" : $"{type.Namespace}.{Generic(type)}";

    private static string Generic(Type type) =>
        type.IsGenericTypeDefinition ? $"{Bare(type)}<{string.Join(", ", type.GetGenericArguments().Select(static a => a.Name))}>" : Bare(type);

    private static string Plain(Type type) => type is { IsNested: true, IsGenericParameter: false } ? $"{Plain(type.DeclaringType!)}.{Bare(type)}" : Bare(type);

    private static string Bare(Type type)
    {
        int tick = type.Name.IndexOf('`', StringComparison.Ordinal);
        return tick < 0 ? type.Name : type.Name[..tick];
    }
}
